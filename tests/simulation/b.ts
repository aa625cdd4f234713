import { loadProgram } from "./load.ts";
import { History, makeStage } from "./history.ts";
import { FAULTS, planOf, type Fault } from "./plan.ts";
const load = await loadProgram();
const stage = makeStage(load);
const [from, count, told, faults] = process.argv.slice(2);
const allowed = (faults ? faults.split(",") : Object.keys(FAULTS).filter(f=>!["versions","tear"].includes(f))) as Fault[];
process.on("unhandledRejection", (e) => console.log("UNHANDLED", e));
const c0 = process.cpuUsage(); const rules: Record<string, number[]> = {};
let events=0, ticks=0, ms=0;
for (let seed=+from; seed<+from + +count; seed++) {
  const plan = planOf(seed, allowed);
  const h = new History(plan, stage, told==="1");
  const o = await h.run();
  events+=o.events; ticks+=o.ticks; ms+=o.endMs;
  if (o.violation) { (rules[o.violation.rule]??=[]).push(seed); if (rules[o.violation.rule].length<3) console.log(seed, o.violation.rule, o.violation.message.slice(0,600)); }
  if (told==="1") { console.log(plan); console.log(o.lines.join("\n")); }
}
const c = process.cpuUsage(c0);
console.log({ cpu: (c.user+c.system)/1e6, user: c.user/1e6, perMs: (c.user+c.system)/1e3/+count, events: events/+count, ticks: ticks/+count, virtual: ms/+count });
for (const [r,l] of Object.entries(rules)) console.log(r, l.length, l.slice(0,12).join(" "));
