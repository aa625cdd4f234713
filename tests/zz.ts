import { FIGURES } from "./report/figures/index.ts";
const cpu = () => { const c = process.cpuUsage(); return (c.user + c.system) / 1e6; };
for (const id of Object.keys(FIGURES)) { const { figure } = await FIGURES[id]!(); const c = cpu(); await figure.run("small"); console.log((cpu() - c).toFixed(2), id); }
