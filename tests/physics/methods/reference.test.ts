/**
 * Live comparison of a scene's bodies with a reference: errors against separate worlds, and the assignment of
 * references to bodies.
 */
import { describe, expect, test } from "vitest";
import type { Body, Scene, SoftBody } from "../../../shared/scene/scene.ts";
import type { Method } from "../../../shared/scene/sceneMethodTypes.ts";
import { validateScene } from "../../../shared/scene/sceneValidator.ts";
import type { Input } from "../../../server/sim/types.ts";
import { type Laboratory, laboratory } from "../laboratory.ts";
import { cube, largest } from "./kit.ts";

const VOLUMES: Method = { type: "finite-volumes", integrator: "symplectic", steps: 16 };
/** A cube fixed on the ground, damped so that a tenth of a second suffices. @param cells along an edge */
function standing(name: string, cells: number, n: number, method: Method, more: Partial<SoftBody> = {}): Body {
  const body = cube(method, {
    mesh: { type: "box", size: [0.5, 0.5, 0.5], cells: [cells, cells, cells] },
    transform: { translate: [n, 0.25, 0] },
    pins: [{ select: { box: { min: [-100, -1, -1], max: [100, 0.001, 1] } } }],
    ...more,
  });
  return { ...body, name, material: { ...body.material, damping: 5 } } as Body;
}

function among(bodies: Body[], cells = 6): Partial<Scene> & Pick<Scene, "bodies"> {
  const names = bodies.map(({ name }) => name);
  return {
    gravity: [0, -9.81, 0],
    bodies: bodies.map(
      (body) => ({ ...body, contact: { self: false, ignore: names.filter((name) => name !== body.name) } }) as Body,
    ),
    reference: { of: names[0]!, cells: [cells, cells, cells], steps: 16, bodies: names },
    interaction: { grabMaxForce: 60, grabSpeed: 1, grabRadius: 0.3 },
  };
}

/** A grab in the middle of a cube's top. */
function grab(lab: Laboratory, body: number, member: number): Input {
  const { triangles, positions } = lab.created.bodies[body]!;
  const height = (k: number): number => positions[3 * triangles[k]! + 1]!;
  const off = (k: number): number => Math.abs(positions[3 * triangles[k]!]! - body);
  const tops = Array.from({ length: triangles.length / 3 }, (_, t) => t).filter((t) =>
    [0, 1, 2].every((c) => height(3 * t + c) > 0.499 && off(3 * t + c) < 0.26),
  );
  const at = (t: number): number => [0, 1, 2].reduce((s, c) => s + off(3 * t + c), 0);
  const triangle = tops.reduce((best, t) => (at(t) < at(best) ? t : best));
  return { type: "grab", member, grab: 0, body, triangle, u: 1 / 3, v: 1 / 3, target: [body + 0.3, 0.8, 0.1] };
}

const errors = ({ world }: Laboratory): (number | null)[] => world.methodErrors().map(({ error }) => error);

test("the error of a net is its distance from the extrapolation of two separately stepped meshes", async () => {
  const loads = [{ select: { box: { min: [-9, 0.4, -9], max: [9, 9, 9] } }, force: [40, 0, 10] }] as SoftBody["loads"];
  const pulled = { ...(loads && { loads }) };
  const alone = async (cells: number): Promise<Float64Array> => {
    const lab = await laboratory({ gravity: [0, -9.81, 0], bodies: [standing("one", cells, 0, VOLUMES, pulled)] });
    lab.run(12);
    const x = lab.positions();
    const { positions } = lab.created.bodies[0]!;
    // by place: a mesh with twice as many cells has the same vertices and more
    return Float64Array.from(net.created.bodies[1]!.positions, (_, k) => {
      const i = k - (k % 3);
      const [X, Y, Z] = net.created.bodies[1]!.positions.subarray(i, i + 3);
      const j = positions.findIndex(
        (px, p) => p % 3 === 0 && Math.hypot(px - X! + 1, positions[p + 1]! - Y!, positions[p + 2]! - Z!) < 1e-9,
      );
      return x[j + (k % 3)]! + (k % 3 === 0 ? 1 : 0);
    });
  };
  const of = standing("of", 2, 0, VOLUMES, pulled);
  const net = await laboratory(among([of, standing("net", 2, 1, { type: "mass-spring" }, pulled)], 4));
  net.run(12);
  const [fine, coarse] = [await alone(4), await alone(2)];
  const { streamedCount } = net.created.bodies[1]!;
  const x = net.positions(1);
  const far = fine.map((u, k) => x[k]! - (u + (u - coarse[k]!) / (2 ** 1.42 - 1)));
  const expected = Math.sqrt(far.subarray(0, 3 * streamedCount).reduce((s, d) => s + d * d, 0) / streamedCount) / 0.5;
  expect(expected).toBeGreaterThan(0.005);
  // float32 positions; the order 1.42 has four digits
  expect(Math.abs(errors(net)[1]! / expected - 1)).toBeLessThan(1e-3);
});

test("under a grab and an impulse finer cells have a smaller error, and springs a larger one", async () => {
  const bodies = [
    standing("coarse", 2, 0, VOLUMES),
    standing("fine", 6, 1, VOLUMES),
    standing("net", 4, 2, { type: "mass-spring" }),
  ];
  const lab = await laboratory(among(bodies));
  const impulse: [number, number, number] = [0, 0, 8];
  const push = [0, 1, 2].map((body): Input => ({ ...grab(lab, body, 1), type: "impulse", impulse }) as Input);
  lab.run(
    1,
    [0, 1, 2].map((body) => grab(lab, body, 1 + body)),
  );
  lab.run(20, push);
  const [coarse, fine, net] = errors(lab) as [number, number, number];
  const moved = largest(lab.positions(1).map((x, k) => x - lab.created.bodies[1]!.positions[k]!)) / 0.5;
  expect(moved).toBeGreaterThan(0.1);
  expect(fine).toBeLessThan(0.05 * moved);
  expect(coarse).toBeGreaterThan(3 * fine);
  expect(net).toBeGreaterThan(3 * fine);
});

describe("assignment of references", () => {
  const five = (): Promise<Laboratory> =>
    laboratory(
      among(
        ["a", "b", "c", "d", "e"].map((name, n) => standing(name, 2, n, VOLUMES)),
        4,
      ),
    );

  test("four grabbed bodies have a reference at a time; a fifth gets that of a released body", async () => {
    const lab = await five();
    lab.run(
      2,
      [0, 1, 2, 3, 4].map((body) => grab(lab, body, 1 + body)),
    );
    expect(errors(lab).map((error) => error !== null)).toEqual([true, true, true, true, false]);
    // 2 s at 5 1/s: the motion has decayed, so the fifth body has a known error again
    lab.run(
      125,
      [5, 2].map((member) => ({ type: "releaseAll", member })),
    );
    expect(errors(lab).map((error) => error !== null)).toEqual([true, true, true, true, true]);
    lab.run(2, [grab(lab, 4, 5)]);
    lab.run(2, [{ type: "releaseAll", member: 3 }]);
    lab.run(2, [grab(lab, 1, 2)]);
    expect(errors(lab).map((error) => error !== null)).toEqual([true, true, false, true, true]);
  });

  const handOnAll = (lab: Laboratory): Input =>
    ({ ...grab(lab, 1, 9), target: [1.05, 0.55, 0.05], together: true }) as Input;

  test("all bodies of one grab are compared, and each has the error that it has alone", async () => {
    const bodies = [
      ...["a", "b", "c"].map((name, n) => standing(name, 2, n, VOLUMES)),
      standing("net", 2, 3, { type: "mass-spring" }),
      standing("fine", 4, 4, VOLUMES),
    ];
    const of = async (compared: string[]): Promise<(number | null)[]> => {
      const scene = among(bodies, 4);
      scene.reference!.bodies = compared;
      scene.interaction!.together = bodies.map(({ name }) => name);
      const lab = await laboratory(scene);
      lab.run(60);
      lab.run(40, [handOnAll(lab)]);
      return errors(lab);
    };
    const together = await of(bodies.map(({ name }) => name));
    const alone = [await of(["a"]), await of(["net"]), await of(["fine"])].flat();
    // bodies with the same mesh and method have the same error; float32 positions
    expect(Math.abs(together[1]! - together[0]!)).toBeLessThan(1e-6);
    // each grab begins where its body has sagged to, and acts a tick later
    for (const [k, error] of [together[0]!, together[3]!, together[4]!].entries())
      expect(Math.abs(error / alone[k]! - 1), `${k}`).toBeLessThan(0.02);
    expect(together[4]).toBeLessThan(0.5 * together[0]!);
  });

  test("a body grabbed apart from a shared grab gets its own reference; the others keep theirs", async () => {
    const room = async (): Promise<Laboratory> => {
      const scene = among(
        ["a", "b", "c", "d", "e", "f"].map((name, n) => standing(name, 2, n, VOLUMES)),
        4,
      );
      scene.interaction!.together = scene.reference!.bodies;
      const lab = await laboratory(scene);
      lab.run(20, [handOnAll(lab)]);
      return lab;
    };
    const [lab, others] = [await room(), await room()];
    const known = (): boolean[] => errors(lab).map((error) => error !== null);
    const impulse: Input = { ...grab(lab, 0, 1), type: "impulse", impulse: [0, 0, 1] } as Input;
    lab.run(1, [impulse]);
    others.run(1);
    // the shared reference is not moved by the new one; the followed grab is another now, up to float32 rounding
    const apart = (n: number): number => Math.abs(errors(lab)[n]! - errors(others)[n]!);
    for (const n of [1, 2, 3, 4, 5]) expect(apart(n)).toBeLessThan(1e-7);
    expect(errors(lab)[0]).toBeLessThan(0.03);
    // a (which was pushed), b and d have references of their own, and the remaining bodies share one: e would need a
    // fifth
    lab.run(1, [grab(lab, 1, 2), grab(lab, 3, 4)]);
    expect(known()).toEqual([true, true, true, true, true, true]);
    lab.run(1, [grab(lab, 4, 5)]);
    others.run(2);
    expect(known()).toEqual([true, true, true, true, false, true]);
    expect(apart(5)).toBeLessThan(1e-7);
    // all released, and free for 10/damping s: known again
    lab.run(
      125,
      [9, 2, 4, 5].map((member) => ({ type: "releaseAll", member })),
    );
    expect(known()).toEqual([true, true, true, true, true, true]);
  });

  test("no body is compared in wind; all are again after a reset", async () => {
    const lab = await five();
    lab.run(
      2,
      [0, 1, 2, 3, 4].map((body) => grab(lab, body, 1 + body)),
    );
    lab.run(1, [{ type: "tune", member: 1, wind: { velocity: [3, 0, 0], density: 1.2 } }]);
    expect(errors(lab)).toEqual([null, null, null, null, null]);
    lab.run(1, [{ type: "tune", member: 1, asScene: true }]);
    lab.run(1, [{ type: "reset", member: 1 }]);
    expect(errors(lab).every((error) => error! < 1e-3)).toBe(true);
  });

  test("a reference at rest is not stepped until gravity changes", async () => {
    const lab = await laboratory(among([standing("a", 2, 0, VOLUMES)], 2));
    const { state, length } = lab.created.layout.reference!;
    const words = (): Float64Array => new Float64Array(lab.created.memory.buffer, state, length).slice();
    lab.run(400);
    const before = words();
    lab.run(5);
    expect(words()).toEqual(before);
    const rest = errors(lab)[0]!;
    lab.run(300, [{ type: "tune", member: 1, gravity: [0, 0, 0] }]);
    expect(errors(lab)[0]!).toBeLessThan(0.05 * rest);
  });
});

test("an invalid reference is refused", () => {
  const { bodies, ...rest } = among([standing("a", 2, 0, VOLUMES), standing("b", 2, 1, VOLUMES)]);
  const scene = (reference: Partial<Scene["reference"]>, other: Partial<SoftBody> = {}): unknown => ({
    version: 1,
    title: "refused",
    ...rest,
    bodies: [bodies[0], { ...bodies[1], ...other }],
    reference: { ...rest.reference, ...reference },
  });
  const refused = (value: unknown, what: RegExp): void => expect(() => validateScene(value)).toThrow(what);
  refused(scene({ of: "c" }), /\/reference\/of.*the name of a body: a, b/);
  refused(scene({ cells: [3, 4, 4] }), /\/reference\/cells\/0/);
  refused(scene({ bodies: ["a", "c"] }), /\/reference\/bodies\/1: c/);
  refused(scene({}, { transform: { rotate: [0, 9, 0] } }), /\/reference\/bodies\/1.*without transform\/rotate/);
  refused(
    scene({}, { mesh: { type: "box", size: [1, 1, 1], cells: [2, 2, 2] } }),
    /\/reference\/bodies\/1.*0\.5 x 0\.5 x 0\.5 m as a/,
  );
});

test("too few steps for the reference's mesh are refused, and the text names the least", async () => {
  const scene = among([standing("a", 2, 0, VOLUMES)]);
  const few = laboratory({ ...scene, reference: { ...scene.reference!, steps: 1 } });
  await expect(few).rejects.toThrow(/\/reference\/steps: 1 .*at least \d+/);
});
