/** Style sheet of the report: light, dark, print. */
export const STYLE = `
:root { --paper: #fdfdfc; --ink: #1c2024; --soft: #5b636c; --line: #dfe3e6; --card: #f4f5f5; --link: #0b63a5; --good: #0b7a4b; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --paper: #15181b; --ink: #e6e8ea; --soft: #9aa3ab; --line: #2d3338; --card: #1d2125; --link: #6db6ee; --good: #4cc38a; --bad: #ff7b72; } }
* { box-sizing: border-box; }
html { background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; scroll-behavior: smooth; -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; padding: 2.5rem 1.25rem 4rem; max-width: 62rem; }
h1 { font-size: 2.1rem; line-height: 1.15; letter-spacing: -0.015em; margin: 0 0 0.8rem; }
h2 { font-size: 1.35rem; line-height: 1.3; letter-spacing: -0.01em; margin: 0 0 0.15rem; display: flex; flex-wrap: wrap; gap: 0.6rem; align-items: baseline; }
p, ul { max-width: 46rem; margin: 0.7rem 0; }
.lead { font-size: 1.05rem; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
code, pre { font: 0.9em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { overflow-x: auto; padding: 0.7rem 1rem; background: var(--card); border-radius: 6px; }
.environment { display: flex; flex-wrap: wrap; gap: 0.5rem 2rem; margin: 1.2rem 0 1.8rem; }
.environment dt { color: var(--soft); font-size: 0.78rem; }
.environment dd { margin: 0; font-size: 0.9rem; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: 0.78rem; }
th, td { padding: 0.38rem 0.9rem 0.38rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td:last-child, th:last-child { padding-right: 0; }
.number { text-align: right; white-space: nowrap; }
.contents td:nth-child(3) { color: var(--soft); }
nav, .scroll { overflow-x: auto; }
.checks td:nth-child(3), .checks td:nth-child(4) { white-space: nowrap; color: var(--soft); }
.bad td { color: var(--bad); }
.grid { font-size: 0.75rem; margin-top: 1.4rem; }
.grid caption { text-align: left; color: var(--soft); font-size: 0.85rem; }
.grid td { padding: 0.2rem 0.4rem; border: 1px solid var(--line); }
.grid td.good { color: var(--good); }
.grid td.bad { color: var(--paper); background: var(--bad); }
.badge { font-size: 0.75rem; font-weight: 600; letter-spacing: 0.02em; }
.badge.pass { color: var(--good); }
.badge.fail { color: var(--paper); background: var(--bad); padding: 0.05rem 0.4rem; border-radius: 4px; }
section { margin-top: 3.2rem; padding-top: 1.6rem; border-top: 2px solid var(--line); scroll-margin-top: 0.5rem; }
.anchor { color: var(--soft); font-weight: 500; }
.source { color: var(--soft); margin-top: 0; font-size: 0.9rem; }
figure { margin: 1.4rem 0 0; }
figcaption { color: var(--soft); font-size: 0.85rem; max-width: 46rem; margin-top: 0.3rem; }
.plot svg { max-width: 100%; height: auto; display: block; overflow: visible; }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 19rem), 1fr)); gap: 0 1.2rem; }
.picture img { width: 100%; max-width: 46rem; height: auto; display: block; border-radius: 6px; }
footer { margin-top: 4rem; color: var(--soft); font-size: 0.85rem; }
@media print {
  :root { --paper: #fff; --ink: #000; --soft: #444; --line: #bbb; --card: #f2f2f2; --link: #000; --good: #000; --bad: #000; }
  html { font-size: 11px; }
  body { max-width: none; padding: 0; }
  section { break-before: page; border-top: 0; margin-top: 0; padding-top: 0; }
  figure, tr, h2 { break-inside: avoid; }
  h2, thead { break-after: avoid; }
  .badge.fail { outline: 1px solid #000; color: #000; background: none; }
}
`;
