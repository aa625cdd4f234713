/** Key commands of the room page: single keys, and Ctrl+Z or Cmd+Z. Ignored while the focus is in a text field. */

export type Command =
  | "reset"
  | "push"
  | "overlay"
  | "wireframe"
  | "strain"
  | "cancel"
  | "home"
  | "help"
  | "spares"
  | "undo"
  | "talk"
  | "pin";

export const KEYS: Readonly<Record<string, Command>> = {
  r: "reset",
  p: "push",
  o: "overlay",
  w: "wireframe",
  s: "strain",
  h: "home",
  i: "spares",
  t: "talk",
  k: "pin",
  escape: "cancel",
  "?": "help",
};

export function listenToKeys(run: (command: Command) => void): void {
  addEventListener("keydown", (event) => {
    const undoes = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "z";
    if ((!undoes && (event.ctrlKey || event.metaKey)) || event.altKey || event.repeat) return;
    const target = event.target as HTMLElement | null;
    const field = target?.closest("input, textarea, select, [contenteditable]");
    // A slider has no text to undo.
    if (field && event.key !== "Escape" && !(undoes && field.matches("[type=range], [type=checkbox]"))) return;
    const command = undoes ? "undo" : KEYS[event.key.toLowerCase()];
    if (!command) return;
    event.preventDefault();
    run(command);
  });
}
