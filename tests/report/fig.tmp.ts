import { FIGURES } from "./figures/index.ts";
const cpu = () => process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6;
const ids = process.argv.slice(2).length ? process.argv.slice(2) : Object.keys(FIGURES);
for (const id of ids) {
  const t = cpu();
  const { figure } = await FIGURES[id]!();
  const r = await figure.run("small");
  console.log(
    id.padEnd(20),
    (cpu() - t).toFixed(2),
    r.checks
      .filter((c) => !c.pass)
      .map((c) => c.what + " " + c.value)
      .join("; "),
  );
}
