/**
 * Table of all rooms. An opened row also shows the room's members and actions. Rows are updated in place, so that a
 * button does not move while an operator is about to press it.
 */
import type { AdminRoom, Person, QuarantinedPiece } from "../../net/admin.ts";
import { h, icon, wear } from "../dom.ts";
import { ROLE_TEXTS } from "../room/people.ts";
import { dateText, t } from "../../text/text.ts";
import { sureButton } from "./sureButton.ts";
import { age, megabytes, milliseconds, percent, size } from "./format.ts";

export interface RoomActions {
  /** Origin of the rooms' pages; empty: this page's own. */
  readonly visitors: string;
  kick(room: string, person: Person, banSeconds?: number): void;
  /** Shows a text to all members of these rooms. */
  announce(rooms: readonly string[], text: string): void;
  dispose(room: string): void;
  /** Hands the room over to another process. */
  handOver(room: string): void;
  /** Serves a quarantined room again: from its last state, or from the start of its scene. */
  endQuarantine(room: string, from: "end" | "start"): void;
  /** Downloads a recording of its last minutes. */
  download(room: string): void;
  quarantinedPieces(room: string): Promise<QuarantinedPiece[]>;
  downloadQuarantinedPiece(room: string, piece: QuarantinedPiece): void;
  /** @param done called after the deletion */
  deleteQuarantinedPiece(room: string, piece: QuarantinedPiece, done: () => void): void;
}

/** Length of a ban from this page, s. */
const BAN_SECONDS = 3600;
/** Memory in use / reserved; processes of an older version report only one of the two. */
function memoryOf({ memoryBytes, memoryUsedBytes }: { memoryBytes?: number; memoryUsedBytes?: number }): string {
  if (memoryBytes === undefined) return NONE;
  return memoryUsedBytes === undefined
    ? megabytes(memoryBytes)
    : `${megabytes(memoryUsedBytes)} / ${megabytes(memoryBytes)}`;
}

const COLUMNS = [
  "columnRoom",
  "columnScene",
  "columnOwner",
  "columnMembers",
  "columnTick",
  "columnRealTime",
  "columnStepMean",
  "columnStepP99",
  "columnThread",
  "columnMemory",
  "columnHeld",
  "columnCheckpoint",
] as const;
type Column = (typeof COLUMNS)[number];
/** Below this time dilation members are told that the room is in slow motion (state/slowMotion.ts). */
const SLOW = 0.95;
/** The search field appears above this number of rooms. */
const MANY = 5;
const PIECES = { checkpoint: "adminPieceCheckpoint", journal: "adminPieceJournal" } as const;
/** Shown for an empty or unknown value. */
const NONE = "–";

class RoomRow {
  readonly element = h("tbody", {});
  readonly #name: string;
  readonly #actions: RoomActions;
  readonly #cells = new Map<string, HTMLTableCellElement>();
  readonly #toggle: HTMLButtonElement;
  readonly #badges = h("span", { class: "badges" });
  readonly #more: HTMLTableRowElement;
  readonly #people = h("ul", { class: "members" });
  readonly #quarantinedPieces = h("section", { class: "quarantined-pieces", hidden: true });
  readonly #endQuarantine: HTMLButtonElement[];
  #peopleShown = "";
  /** The room is quarantined. */
  quarantined = false;

  constructor(name: string, actions: RoomActions) {
    this.#name = name;
    this.#actions = actions;
    this.element.dataset.room = name;
    this.#toggle = h(
      "button",
      {
        type: "button",
        class: "toggle",
        "aria-expanded": "false",
        onclick: () => this.#open(this.#more.hidden !== false),
      },
      icon("arrow"),
      h("code", {}, name),
    );
    const choices = [
      ["end", "adminGoOn"],
      ["start", "startAgain"],
    ] as const;
    this.#endQuarantine = choices.map(([from, text]) =>
      h(
        "button",
        {
          class: "button",
          type: "button",
          hidden: true,
          "data-action": `end-quarantine-${from}`,
          onclick: () => actions.endQuarantine(name, from),
        },
        t(text),
      ),
    );
    const row = h("tr", {}, h("th", { scope: "row" }, this.#toggle, this.#badges));
    for (const column of COLUMNS.slice(1)) {
      const cell = h("td", { "data-column": column, "data-label": t(column) });
      this.#cells.set(column, cell);
      row.append(cell);
    }
    this.#more = h(
      "tr",
      { class: "more", hidden: true },
      h(
        "td",
        { colspan: String(COLUMNS.length) },
        this.#people,
        this.#quarantinedPieces,
        h(
          "div",
          { class: "actions" },
          h("a", { class: "button", href: `${actions.visitors}/r/${encodeURIComponent(name)}` }, t("adminVisit")),
          h(
            "button",
            { class: "button", type: "button", "data-action": "download", onclick: () => actions.download(name) },
            t("adminDownload"),
          ),
          h(
            "button",
            { class: "button", type: "button", "data-action": "hand-over", onclick: () => actions.handOver(name) },
            t("adminHandOver"),
          ),
          ...this.#endQuarantine,
          sureButton("dispose", "adminDispose", "adminDisposeSure", () => this.#actions.dispose(this.#name)),
        ),
      ),
    );
    this.element.append(row, this.#more);
  }

  update(room: AdminRoom): void {
    const { inside, owner, members } = room;
    const people = inside?.people ?? [];
    // Mark only problems that members notice: not in empty rooms, and not long ticks that fit into their period.
    const noticed = members > 0;
    this.#fill("columnScene", room.scene);
    this.#fill("columnOwner", owner ?? t("adminNobodyOwns"), inside === null);
    this.#fill(
      "columnMembers",
      people.length > members
        ? t("adminMembersAway", { here: members, away: people.length - members })
        : String(members),
    );
    this.#fill("columnTick", inside ? String(inside.tick) : NONE);
    this.#fill(
      "columnRealTime",
      inside ? percent(inside.timeDilation) : NONE,
      noticed && inside !== null && inside.timeDilation < SLOW,
    );
    for (const [column, of] of [
      ["columnStepMean", "mean"],
      ["columnStepP99", "p99"],
    ] as const) {
      this.#fill(column, inside ? milliseconds(inside.stepSeconds[of]) : NONE);
    }
    this.#fill("columnThread", inside?.threadShare === undefined ? NONE : percent(inside.threadShare));
    this.#fill("columnMemory", inside ? memoryOf(inside) : NONE);
    const held = inside?.heldBodies.length ?? 0;
    this.#fill("columnHeld", held === 0 ? NONE : String(held), noticed && held > 0);
    this.#fill("columnCheckpoint", age(inside?.checkpointAgeSeconds ?? 0));
    const access = inside?.access;
    const { quarantined } = room;
    this.quarantined = quarantined !== undefined;
    for (const button of this.#endQuarantine) button.hidden = !quarantined;
    const over = inside?.overBudget;
    const tick = over && { took: milliseconds(over.medianSeconds), has: milliseconds(over.budgetSeconds) };
    const marks: [boolean | undefined, string][] = [
      [quarantined !== undefined, t("adminQuarantinedBecause", { reason: quarantined?.reason ?? "" })],
      [tick !== undefined, tick ? t("adminOverBudget", tick) : ""],
      [room.pool === "dedicated", t("adminOwnThread")],
      [access?.locked, t("adminLocked")],
      [access?.password, t("adminPassword")],
      [access?.ownersOnly, t("adminOwnersOnly")],
      [(access?.bans ?? 0) > 0, t("adminBans", { count: access?.bans ?? 0 })],
    ];
    const badges = marks.flatMap(([holds, text]) => (holds ? [text] : []));
    if (this.#badges.textContent !== badges.join(""))
      this.#badges.replaceChildren(...badges.map((badge) => h("span", { class: "badge" }, badge)));
    const shown = JSON.stringify([inside && people, quarantined]);
    if (shown === this.#peopleShown) return;
    this.#peopleShown = shown;
    this.#people.replaceChildren(
      ...(people.length > 0
        ? people.map((person) => this.#person(person))
        : [h("li", { class: "none" }, inside ? t("adminNobodyHere") : (quarantined?.details ?? t("adminNoAnswer")))]),
    );
  }

  /** Matches all text of the row: room, scene, owner, badges, members with their addresses. */
  matches(wanted: string): boolean {
    return `${this.#name} ${this.element.textContent}`.toLowerCase().includes(wanted);
  }

  #open(open: boolean): void {
    this.#more.hidden = !open;
    this.#toggle.setAttribute("aria-expanded", String(open));
    if (open) void this.#showQuarantinedPieces();
  }

  /** Loaded when the row is opened: it changes only when the room is taken over. */
  async #showQuarantinedPieces(): Promise<void> {
    const pieces = await this.#actions.quarantinedPieces(this.#name);
    this.#quarantinedPieces.hidden = pieces.length === 0;
    this.#quarantinedPieces.replaceChildren(
      h("h3", {}, t("adminQuarantinedPieces")),
      h("ul", { class: "pieces" }, ...pieces.map((piece) => this.#piece(piece))),
    );
  }

  #piece(piece: QuarantinedPiece): HTMLLIElement {
    const { id, what, tick, reason, at, bytes } = piece;
    const button = (action: string, text: string, onclick: () => void): HTMLButtonElement =>
      h("button", { class: "button", type: "button", "data-action": action, onclick }, text);
    return h(
      "li",
      { "data-piece": String(id) },
      h("strong", {}, what === "members" ? t("adminPieceMembers") : t(PIECES[what], { tick })),
      h("span", { class: "where" }, [reason, dateText(at), size(bytes)].join(" · ")),
      button("download-piece", t("adminDownloadPiece"), () =>
        this.#actions.downloadQuarantinedPiece(this.#name, piece),
      ),
      button("delete-piece", t("adminDeletePiece"), () =>
        this.#actions.deleteQuarantinedPiece(this.#name, piece, () => void this.#showQuarantinedPieces()),
      ),
    );
  }

  #fill(column: Column, text: string, alarming = false): void {
    const cell = this.#cells.get(column)!;
    if (cell.textContent !== text) cell.textContent = text;
    cell.classList.toggle("alarming", alarming);
  }

  #person(person: Person): HTMLLIElement {
    const dot = h("span", { class: "dot" });
    wear(dot, person.color);
    const where = [
      t(ROLE_TEXTS[person.role]),
      person.connected ? undefined : t("adminAway"),
      person.address,
      t("adminSession", { session: person.session }),
      person.subject === null ? undefined : t("adminTokenOf", { subject: person.subject }),
    ];
    return h(
      "li",
      { "data-member": String(person.member) },
      dot,
      h("strong", {}, person.name),
      h("span", { class: "where" }, where.filter(Boolean).join(" · ")),
      h(
        "button",
        {
          class: "button",
          type: "button",
          "data-action": "kick",
          onclick: () => this.#actions.kick(this.#name, person),
        },
        t("kick"),
      ),
      h(
        "button",
        {
          class: "button",
          type: "button",
          "data-action": "ban",
          onclick: () => this.#actions.kick(this.#name, person, BAN_SECONDS),
        },
        t("adminBanHour"),
      ),
    );
  }
}

export class RoomsTable {
  readonly element: HTMLElement;
  readonly #actions: RoomActions;
  readonly #table = h(
    "table",
    {},
    h("thead", {}, h("tr", {}, ...COLUMNS.map((column) => h("th", { scope: "col" }, t(column))))),
  );
  readonly #empty = h("p", { class: "none" }, t("adminNoRoom"));
  readonly #search = h("input", {
    type: "search",
    "aria-label": t("adminSearch"),
    placeholder: t("adminSearchPlaceholder"),
    oninput: () => this.#filter(),
  });
  readonly #rows = new Map<string, RoomRow>();

  constructor(actions: RoomActions) {
    this.#actions = actions;
    this.element = h(
      "div",
      {},
      h("div", { class: "head" }, this.#search, this.#announceForm()),
      h("div", { class: "table" }, this.#table, this.#empty),
    );
  }

  update(rooms: readonly AdminRoom[]): void {
    const sorted = [...rooms].sort((a, b) => (a.room < b.room ? -1 : 1));
    for (const [name, row] of this.#rows) {
      if (sorted.some(({ room }) => room === name)) continue;
      row.element.remove();
      this.#rows.delete(name);
    }
    let before: Element = this.#table.tHead!;
    for (const room of sorted) {
      let row = this.#rows.get(room.room);
      if (!row) this.#rows.set(room.room, (row = new RoomRow(room.room, this.#actions)));
      row.update(room);
      // Move only rows that are out of place: a moved element loses the focus.
      if (before.nextElementSibling !== row.element) before.after(row.element);
      before = row.element;
    }
    this.#search.hidden = rooms.length <= MANY && this.#search.value === "";
    this.#filter();
  }

  /** The announcement goes to the rooms that the filter shows, except quarantined ones. */
  #announceForm(): HTMLElement {
    const field = h("input", {
      type: "text",
      name: "announcement",
      maxlength: "200",
      required: true,
      autocomplete: "off",
      "aria-label": t("adminAnnouncement"),
      placeholder: t("adminAnnouncementPlaceholder"),
    });
    const say = (event: Event): void => {
      event.preventDefault();
      const text = field.value.trim();
      const heard = [...this.#rows].filter(([, row]) => !row.element.hidden && !row.quarantined).map(([name]) => name);
      if (text === "" || heard.length === 0) return;
      this.#actions.announce(heard, text);
      field.value = "";
    };
    return h("form", { onsubmit: say }, field, h("button", { class: "button", type: "submit" }, t("adminAnnounce")));
  }

  #filter(): void {
    const wanted = this.#search.value.trim().toLowerCase();
    const rows = [...this.#rows.values()];
    for (const row of rows) row.element.hidden = !row.matches(wanted);
    const some = rows.some(({ element }) => !element.hidden);
    this.#empty.hidden = some;
    this.#empty.textContent = t(rows.length > 0 ? "adminNoMatch" : "adminNoRoom");
    this.#table.hidden = !some;
  }
}
