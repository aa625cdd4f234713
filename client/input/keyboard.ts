/** Single-key commands of the room page. Ignored while the focus is in a field or a modifier key is down. */

export type Command = "reset" | "push" | "overlay" | "wireframe" | "cancel" | "home" | "help" | "spares" | "talk";

export const KEYS: Readonly<Record<string, Command>> = {
  r: "reset",
  p: "push",
  o: "overlay",
  w: "wireframe",
  h: "home",
  i: "spares",
  t: "talk",
  escape: "cancel",
  "?": "help",
};

export function listenToKeys(run: (command: Command) => void): void {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const target = event.target as HTMLElement | null;
    if (target?.closest("input, textarea, select, [contenteditable]") && event.key !== "Escape") return;
    const command = KEYS[event.key.toLowerCase()];
    if (!command) return;
    event.preventDefault();
    run(command);
  });
}
