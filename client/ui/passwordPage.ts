/** Asks for a room's password. It is kept in the page only, and goes nowhere but into the hello. */
import { h } from "./dom.ts";

/** @param wrong one was given, and it was not the right one; enter is called with what was typed */
export function passwordPage(room: string, wrong: boolean, enter: (password: string) => void): HTMLElement {
  const field = h("input", {
    type: "password",
    name: "password",
    autocomplete: "off",
    maxlength: "128",
    required: true,
    "aria-label": "Password",
    "aria-invalid": String(wrong),
  });
  const page = h(
    "main",
    { class: "message" },
    h("img", { src: "/icon.svg", alt: "", width: "72", height: "72" }),
    h("h1", {}, wrong ? "That is not the password" : "This room has a password"),
    h("p", {}, `Whoever opened ${room} can tell it to you, or send you a link that needs none.`),
    h(
      "form",
      {
        class: "password",
        onsubmit: (event) => {
          event.preventDefault();
          if (field.value) enter(field.value);
        },
      },
      field,
      h("button", { class: "button primary", type: "submit" }, "Come in"),
    ),
    h("a", { href: "/" }, "To the lobby"),
  );
  requestAnimationFrame(() => field.focus());
  return page;
}
