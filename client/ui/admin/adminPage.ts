/**
 * `/admin`: all rooms with their members, statistics and actions for operators, and the end of the audit log. Requires
 * an operator's token.
 */
import "../../styles/admin.css";
import {
  AdminApi,
  type AdminProcess,
  type AdminRoom,
  type AuditEntry,
  isDenied,
  keepToken,
  keptToken,
  type QuarantinedPiece,
} from "../../net/admin.ts";
import { h } from "../dom.ts";
import { Toasts } from "../toasts.ts";
import { details, megabytes, percent } from "./format.ts";
import { ObjectsList } from "./objectsList.ts";
import { type RoomActions, RoomsTable } from "./roomsTable.ts";
import { fetchAddresses } from "../../net/api.ts";
import { problemText } from "../../text/problem.ts";
import { dateText, t } from "../../text/text.ts";

/** Interval of refreshes of the rooms and the log while the page is visible, ms. */
const REFRESH_MS = 2000;
const AUDIT_ENTRIES = 50;

export function openAdminPage(app: HTMLElement): void {
  document.title = t("adminDocument");
  const token = keptToken();
  if (token === undefined) askForToken(app);
  else void enter(app, token);
}

/** @param problem reason why the token is asked for again */
function askForToken(app: HTMLElement, problem?: string): void {
  const field = h("input", {
    type: "password",
    name: "token",
    autocomplete: "off",
    spellcheck: "false",
    required: true,
    "aria-label": t("adminToken"),
    placeholder: t("adminTokenPlaceholder"),
  });
  app.replaceChildren(
    h(
      "main",
      { class: "message admin-login" },
      h("img", { src: "/icon.svg", alt: "", width: "72", height: "72" }),
      h("h1", {}, t("adminTitle")),
      h("p", {}, t("adminIntro")),
      h("p", { class: "problem", role: "alert", hidden: problem === undefined }, problem ?? ""),
      h(
        "form",
        {
          onsubmit: (event) => {
            event.preventDefault();
            const token = field.value.trim();
            if (token) void enter(app, token);
          },
        },
        field,
        h("button", { class: "button primary", type: "submit" }, t("adminEnter")),
      ),
    ),
  );
  field.focus();
}

/** Shows the page if the token is an operator's; otherwise asks again. */
async function enter(app: HTMLElement, token: string): Promise<void> {
  const api = new AdminApi(token);
  try {
    const [rooms, { visitors }] = await Promise.all([api.rooms(), fetchAddresses()]);
    keepToken(token);
    new AdminView(app, api, visitors ?? "").show(rooms);
  } catch (error) {
    // Keep the token if the server does not answer: that says nothing about the token.
    if (isDenied(error)) keepToken(undefined);
    askForToken(app, isDenied(error) ? t("adminNotToken") : problemText(error));
  }
}

class AdminView implements RoomActions {
  readonly visitors: string;
  readonly #app: HTMLElement;
  readonly #api: AdminApi;
  readonly #table: RoomsTable;
  readonly #objects = new ObjectsList(({ object, name }) =>
    this.#do(() => this.#api.deleteObject(object), t("adminObjectGone", { name })),
  );
  readonly #summary = h("p", { class: "summary" });
  readonly #problem = h("p", { class: "problem", role: "alert", hidden: true });
  readonly #processes = h("ul", { class: "processes", "aria-label": t("adminServers"), hidden: true });
  readonly #audit = h("ol", { class: "audit" });
  readonly #toasts = new Toasts();
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #onVisible = () => void this.#refresh();
  #auditShown = "";

  constructor(app: HTMLElement, api: AdminApi, visitors: string) {
    this.visitors = visitors;
    this.#app = app;
    this.#api = api;
    this.#table = new RoomsTable(this);
    app.replaceChildren(
      h(
        "div",
        { class: "lobby admin" },
        h(
          "header",
          {},
          h(
            "a",
            { class: "brand", href: `${visitors}/` },
            h("img", { src: "/icon.svg", alt: "", width: "36", height: "36" }),
            "Pliant",
          ),
          h(
            "nav",
            {},
            h("a", { href: "/docs" }, t("httpApi")),
            h("a", { href: "/metrics" }, t("adminMetrics")),
            h(
              "button",
              { class: "button", type: "button", "data-action": "leave", onclick: () => this.#leave() },
              t("adminLeave"),
            ),
          ),
        ),
        h(
          "main",
          {},
          h("h1", {}, t("adminTitle")),
          this.#summary,
          this.#problem,
          this.#processes,
          h("section", { "aria-label": t("adminRooms") }, this.#table.element),
          this.#objects.element,
          h("section", { "aria-label": t("adminAudit") }, h("h2", {}, t("adminAudit")), this.#audit),
        ),
        this.#toasts.element,
      ),
    );
    this.#timer = setInterval(() => void this.#refresh(), REFRESH_MS);
    document.addEventListener("visibilitychange", this.#onVisible);
  }

  show(rooms: readonly AdminRoom[]): void {
    this.#table.update(rooms);
    const members = rooms.reduce((sum, room) => sum + room.members, 0);
    const slowest = Math.min(
      1,
      ...rooms.filter(({ members }) => members > 0).map(({ inside }) => inside?.timeDilation ?? 1),
    );
    const counts = { rooms: t("rooms", { count: rooms.length }), members: t("members", { count: members }) };
    this.#summary.textContent =
      members > 0 ? t("adminSummarySlowest", { ...counts, percent: percent(slowest) }) : t("adminSummary", counts);
    void this.#refreshProcesses();
    void this.#refreshObjects();
    void this.#refreshAudit();
  }

  kick(room: string, { member, name }: { member: number; name: string }, banSeconds?: number): void {
    this.#do(
      () => this.#api.kick(room, member, banSeconds),
      banSeconds === undefined ? t("adminKicked", { name }) : t("adminBanned", { name, count: banSeconds / 60 }),
    );
  }

  announce(rooms: readonly string[], text: string): void {
    this.#do(
      async () => void (await Promise.all(rooms.map((room) => this.#api.announce(room, text)))),
      t("adminSaid", { count: rooms.length }),
    );
  }

  dispose(room: string): void {
    this.#do(() => this.#api.dispose(room), t("adminEnded", { room }));
  }

  handOver(room: string): void {
    this.#do(() => this.#api.handOver(room), t("adminHandedOver", { room }));
  }

  endQuarantine(room: string, from: "end" | "start"): void {
    this.#do(() => this.#api.endQuarantine(room, from), t("adminQuarantineEnded", { room }));
  }

  download(room: string): void {
    this.#do(() => this.#save(this.#api.recording(room)), t("adminRecordingSaved", { room }));
  }

  async quarantinedPieces(room: string): Promise<QuarantinedPiece[]> {
    // A server without a store lists no processes and quarantines nothing. The next refresh reports other errors.
    const stored = await this.#api.processes().catch(() => []);
    return stored.length === 0 ? [] : this.#api.quarantinedPieces(room).catch(() => []);
  }

  downloadQuarantinedPiece(room: string, { id }: QuarantinedPiece): void {
    this.#do(() => this.#save(this.#api.quarantinedPieceBytes(room, id)), t("adminPieceSaved", { room }));
  }

  deleteQuarantinedPiece(room: string, { id }: QuarantinedPiece, done: () => void): void {
    this.#do(
      async () => {
        await this.#api.deleteQuarantinedPiece(room, id);
        done();
      },
      t("adminPieceGone", { room }),
    );
  }

  async #save(download: Promise<{ content: Blob; name: string }>): Promise<void> {
    const { content, name } = await download;
    const address = URL.createObjectURL(content);
    h("a", { href: address, download: name }).click();
    // The browser starts to read at once; a minute is more than enough.
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  }

  #do(work: () => Promise<void>, done: string): void {
    work()
      .then(
        () => this.#toasts.show(done),
        (error: unknown) =>
          isDenied(error) ? this.#leave(t("adminTokenEnded")) : this.#toasts.show(problemText(error)),
      )
      .finally(() => void this.#refresh());
  }

  async #refresh(): Promise<void> {
    if (document.hidden) return;
    try {
      this.show(await this.#api.rooms());
      this.#problem.hidden = true;
    } catch (error) {
      if (isDenied(error)) return this.#leave(t("adminTokenEnded"));
      this.#problem.textContent = problemText(error);
      this.#problem.hidden = false;
    }
  }

  /** Lists the processes. Hidden if there is only one: there is nothing to compare. */
  async #refreshProcesses(): Promise<void> {
    const processes = await this.#api.processes().catch(() => []);
    this.#processes.hidden = processes.length < 2;
    this.#processes.replaceChildren(...processes.map(processEntry));
  }

  async #refreshObjects(): Promise<void> {
    // The refresh of the rooms reports errors.
    const objects = await this.#api.objects().catch(() => undefined);
    if (objects) this.#objects.update(objects);
  }

  async #refreshAudit(): Promise<void> {
    const entries = await this.#api.audit(AUDIT_ENTRIES).catch(() => undefined);
    const shown = JSON.stringify(entries);
    if (!entries || shown === this.#auditShown) return;
    this.#auditShown = shown;
    this.#audit.replaceChildren(
      ...(entries.length > 0 ? entries.map(auditEntry) : [h("li", { class: "none" }, t("adminNothingYet"))]),
    );
  }

  #leave(problem?: string): void {
    clearInterval(this.#timer);
    document.removeEventListener("visibilitychange", this.#onVisible);
    keepToken(undefined);
    askForToken(this.#app, problem);
  }
}

function processEntry(process: AdminProcess): HTMLLIElement {
  const { url, version, state, load, rooms, members, memoryBytes } = process;
  const figures = [
    t("adminBusy", { percent: percent(load) }),
    t("rooms", { count: rooms }),
    t("members", { count: members }),
    megabytes(memoryBytes),
    t("adminVersion", { version }),
  ];
  return h(
    "li",
    { "data-process": process.process },
    h("code", {}, url),
    h("strong", { class: "badge" }, state),
    h("span", {}, figures.join(", ")),
  );
}

function auditEntry({ at, actor, action, room, details: values }: AuditEntry): HTMLLIElement {
  return h(
    "li",
    { "data-action": action },
    h("time", { datetime: at }, dateText(at)),
    h("strong", { class: "badge" }, action),
    h("span", {}, actor),
    h("code", {}, room ?? ""),
    h("span", { class: "details" }, details(values)),
  );
}
