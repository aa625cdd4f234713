/** Asks for a room's password. It is kept only in the page and sent only in the hello. */
import { h } from "../dom.ts";
import { t } from "../../text/text.ts";

/** @param wrong true after a wrong password. @param enter called with the typed password */
export function passwordPage(room: string, wrong: boolean, enter: (password: string) => void): HTMLElement {
  const field = h("input", {
    type: "password",
    name: "password",
    autocomplete: "off",
    maxlength: "128",
    required: true,
    "aria-label": t("password"),
    "aria-invalid": String(wrong),
  });
  const page = h(
    "main",
    { class: "message" },
    h("img", { src: "/icon.svg", alt: "", width: "72", height: "72" }),
    h("h1", {}, t(wrong ? "passwordWrong" : "passwordNeeded")),
    h("p", {}, t("passwordHint", { room })),
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
      h("button", { class: "button primary", type: "submit" }, t("passwordEnter")),
    ),
    h("a", { href: "/" }, t("toLobby")),
  );
  requestAnimationFrame(() => field.focus());
  return page;
}
