/** The report's page: complete without other files, clear about failures, and safe against markup in figures' texts. */
import { expect, test } from "vitest";
import { check } from "./figures/figure.ts";
import { curves } from "./figures/drawing/plots.ts";
import { render } from "./figures/drawing/raster.ts";
import type { Outcome } from "./outcome.ts";
import { page } from "./page.ts";

const ENVIRONMENT = {
  date: "2026-01-02T03:04:05Z",
  commit: "abc",
  kernel: "0123456789ab",
  seconds: 61,
  jobs: 2,
  node: "v24",
  processor: "P",
  cores: 2,
  load: 0.5,
  size: "full",
};
const png = render({ meshes: [], camera: { position: [0, 0, 1], target: [0, 0, 0] }, width: 8, height: 8 });
const measured = (id: string, value: number): Outcome => ({
  id,
  title: `T ${id}`,
  source: "S",
  seconds: 1,
  text: "A **bold** claim, x < y.\n\n- one\n- two\n\n  a = b",
  checks: [check("what", value, { unit: "m", high: 1, published: 2 })],
  plots: [0, 1].map(() => ({
    caption: "C",
    spec: curves({ title: "x" }, { title: "y", log: true }, [
      {
        name: "s",
        points: [
          [1, 1],
          [2, 10],
        ],
      },
    ]),
  })),
  pictures: [{ caption: "P", png }],
});

test("the page loads nothing and runs no script", async () => {
  const html = await page({ environment: ENVIRONMENT, figures: [measured("a", 0.5)] });
  expect(html).not.toMatch(/<script|<link|@import|@font-face|\son[a-z]+=/);
  for (const [, address] of html.matchAll(/\b(?:src|href|xlink:href)="([^"]*)"/g))
    expect(address).toMatch(/^(#|data:image\/png;base64,)/);
  expect(html).toContain('<section id="a">');
  expect(html).toContain("<strong>bold</strong> claim, x &lt; y.");
  expect(html).toContain("<li>one</li><li>two</li>");
  expect(html).toContain("1 of 1 figures passed, 1 of 1 checks");
});

test("a grid shows green, red and missing cells", async () => {
  const cells = [{ text: "0.5", title: "creep: 5e-5 m/s", good: true }, { text: "refused", good: false }, undefined];
  const grids = [{ caption: "rest", columns: ["a", "b", "c"], rows: [{ name: "x < y", cells }] }];
  const html = await page({ environment: ENVIRONMENT, figures: [{ ...measured("a", 0.5), grids } as Outcome] });
  expect(html).toContain(
    '<td class="good" title="creep: 5e-5 m/s">0.5</td><td class="bad" title="">refused</td><td></td>',
  );
  expect(html).toContain("<th>x &lt; y</th>");
});

test("ids inside of several charts do not collide", async () => {
  const html = await page({ environment: ENVIRONMENT, figures: [measured("a", 0.5), measured("b", 0.5)] });
  const ids = [...html.matchAll(/\bid="([^"]+)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test("a failed check and a broken figure are shown as failed", async () => {
  const html = await page({
    environment: ENVIRONMENT,
    figures: [
      measured("a", 0.5),
      measured("b", 1.5),
      { id: "c", title: "C", source: "S", seconds: 0, error: "Error: <no>" },
    ],
  });
  expect(html).toContain("1 of 3 figures passed, 1 of 2 checks");
  expect(html.match(/>FAIL</g)).toHaveLength(2 + 1 + 2); // contents, the check, headings
  expect(html).toContain("Error: &lt;no&gt;");
});
