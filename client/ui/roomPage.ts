/** The room page: joins connection, state, picture and hands together, and runs the animation loop. */
import { CloseCode, Limits, type Tuning } from "../../shared/protocol/protocol.ts";
import {
  createRoom,
  fetchRoom,
  fetchScene,
  fetchTopology,
  fetchTunedScene,
  invite,
  socketUrl,
  undo,
} from "../net/api.ts";
import { Connection, type ConnectionStatus } from "../sdk/connection.ts";
import { build } from "../../shared/protocol/fromClient.ts";
import type { AccessState } from "../../shared/protocol/fromServer.ts";
import { forgetToken, handOver, takeOver, tokenFor } from "../net/tokens.ts";
import { atLeast, type Role } from "../../shared/roles.ts";
import { checkTuning } from "../sdk/tuning.ts";
import { changesTo, linkTo } from "../state/duplicate.ts";
import { HandWatch } from "../state/handNews.ts";
import { RoomState } from "../state/roomState.ts";
import { slowMotionOf } from "../state/slowMotion.ts";
import type { Command } from "../input/keyboard.ts";
import type { Topology } from "../../shared/topology.ts";
import { exhibit, reopen } from "./exhibit.ts";
import { frameBridge } from "./frameBridge.ts";
import { modeOf } from "./mode.ts";
import { distinctFrom, freshProfile, loadProfile } from "./profile.ts";
import { probeGraphics } from "../view/graphicsProbe.ts";
import { headsetIsThere } from "./headset.ts";
import { messageOf, messagePage } from "./messagePage.ts";
import { passwordPage } from "./passwordPage.ts";
import { RoomShell } from "./roomShell.ts";
import { saveFile } from "./saveFile.ts";
import { shareLink } from "./share.ts";
import type { ObjectNote } from "../net/api.ts";
import type { LocalStats } from "./statsOverlay.ts";
import type { Playground } from "./playground.ts";
import { problemText } from "../text/problem.ts";
import { t, textOfCode } from "../text/text.ts";

/** The overlay's own numbers are taken this often, ms. */
const STATS_MS = 250;
/** What others' hands do is said at most this often, ms. */
const NEWS_MS = 1500;

/** @param password of the room, once it was asked for */
export function openRoomPage(app: HTMLElement, room: string, password?: string): void {
  const profile = loadProfile();
  let playground: Playground | undefined;
  let status: ConnectionStatus = { state: "connecting", attempt: 0 };
  let ended = false;
  let built = 0;
  let wanted = takeOver<Tuning>("duplicate", room);
  let access: AccessState = { locked: false, password: false, ownersOnly: false, bans: 0 };
  const mode = modeOf(location.search);
  /** Whoever stands before an exhibit owns nothing, though its page opened the room. */
  const role = (): Role => {
    const own = state.welcome?.role ?? "player";
    return mode.exhibitSeconds !== undefined && atLeast(own, "player") ? "player" : own;
  };

  if (mode.name) profile.name = mode.name;
  const tellFrame = frameBridge({ home: () => run("home"), reset: () => mayReset() && connection.send(build.reset()) });
  tellFrame({ pliant: "state", state: status.state });
  const shell = new RoomShell(room, profile, mode, {
    profileChanged: () => connection.reintroduce(),
    push: () => run("push"),
    reset: () => run("reset"),
    resetAll: () => connection.send(build.reset()),
    home: () => run("home"),
    overlay: () => run("overlay"),
    visit: () =>
      void playground?.toggleVisit((on) => shell.toolbar.setVisiting(on)).catch(() => shell.toasts.show(t("vrFailed"))),
    help: () => run("help"),
    place: (body) => {
      playground?.setPlacing(body);
      // where a click says where, and so do the arrows and the space bar
      if (body !== undefined) shell.canvas.focus({ preventScroll: true });
      if (body !== undefined) shell.toasts.show(t("whereTo", { body: bodyName(body) }));
    },
    takeOut: (body) => connection.send(build.remove(body)),
    kick: (member, banSeconds) => connection.send(build.kick(member, banSeconds)),
    tune: (change) => connection.send(build.tune(change)),
    saveScene: () => void fetchTunedScene(room).then((scene) => saveFile(`${room}.json`, scene), sayProblem),
    linkScene: (tuning) => {
      const link = linkTo(location.origin, room, state.welcome!.scene, tuning);
      if (!link) return shell.toasts.show(t("linkTooLong"));
      void shareLink(link).then((text) => text && shell.toasts.show(text), sayProblem);
    },
    duplicate: (tuning) => void duplicate(tuning).catch(sayProblem),
    changeAccess: (change) => connection.send(build.access(change)),
    invite: (as) =>
      void invite(room, as)
        .then(shareLink)
        .then((text) => text && shell.toasts.show(text), sayProblem),
    sceneHere: () => state.welcome?.scene,
    undo: (seconds) => void undo(room, seconds).catch(sayProblem),
  });
  app.replaceChildren(shell.element);

  const nameOf = (member: number) => state.members.find((m) => m.member === member)?.name ?? t("somebody");
  const bodyName = (body: number): string => state.topology?.bodies[body]?.name ?? t("it");
  const state = new RoomState({
    fetchTopology,
    needKeyframe: () => connection.send(build.needKeyframe()),
    onTopology: (topology) => void draw(topology),
    onTopologyFailed: (error) => {
      shell.setLoading(problemText(error));
      shell.element.classList.remove("arriving");
    },
    onMembers: () => {
      beDistinct();
      arrive();
      tellFrame({ pliant: "members", count: state.members.filter(({ connected }) => connected).length });
      shell.people.update(state.members, state.welcome?.member ?? 0, role());
      allow();
    },
    onAccess: (next) => {
      access = next;
      shell.access.setAccess(next);
      allow();
    },
    onTuned: (tuning) => {
      shell.tuning.show(tuning);
      if (wanted && atLeast(role(), "owner")) becomeLike(wanted, tuning);
      wanted = undefined;
    },
    onStats: (stats) => {
      const slow = slowMotionOf(stats, state.ticksPerSecond);
      shell.stats.updateServer(stats, slow);
      shell.costs.update(stats);
      shell.setSlowMotion(slow);
    },
    onReset: (member) => {
      playground?.grabs.endAll(false);
      // a reset by nobody is the server's, which says why
      if (member > 0)
        shell.toasts.show(
          member === state.welcome?.member ? t("youStartedAgain") : t("startedAgain", { name: nameOf(member) }),
        );
    },
    onNotice: (code, text, details) => {
      // It has ended, or the room is a new one of the same name: not to be tried again.
      if (code === "TOKEN_INVALID") return forgetToken(room);
      shell.toasts.show(noticeText(code, text, details));
    },
    onWaiting: (member, came, went) => {
      shell.spares.setWaiting(state.spares.now);
      for (const body of went) playground?.grabs.endOn(body);
      if (member === 0) return;
      const name = nameOf(member);
      const mine = member === state.welcome?.member;
      for (const body of came.map(bodyName))
        shell.toasts.show(mine ? t("youPutIn", { body }) : t("somebodyPutIn", { name, body }));
      for (const body of went.map(bodyName))
        shell.toasts.show(mine ? t("youTookOut", { body }) : t("somebodyTookOut", { name, body }));
    },
  });

  // The drawing code comes while the socket opens and the topology is fetched.
  const drawing = import("./playground.ts");

  const connection = new Connection({
    url: socketUrl(room),
    profile: () => profile,
    credentials: () => {
      const token = tokenFor(room);
      return { ...(token !== undefined && { token }), ...(password !== undefined && { password }) };
    },
    onEvent: (event, receivedMs) => state.receive(event, receivedMs),
    roomExists: async () => (await fetchRoom(room)) !== undefined,
    onStatus: (next) => {
      status = next;
      tellFrame({ pliant: "state", state: next.state });
      shell.banner.update(next);
      allow();
      shell.element.classList.toggle("offline", next.state === "reconnecting");
      if (next.state !== "open") playground?.grabs.endAll(false);
      if (next.state === "ended") leave(next.code);
    },
  });

  /** Which tools there are is known: those of the role with the members, those of the scene with its bodies. */
  function arrive(): void {
    if (state.topology && state.members.length > 0) shell.element.classList.remove("arriving");
  }

  function beDistinct(): void {
    const own = state.welcome?.member ?? 0;
    const others = state.members.filter(({ member, connected }) => connected && member !== own);
    const earlier = others.filter(({ member }) => member < own);
    const next = distinctFrom(profile, earlier, others);
    if (next) Object.assign(profile, next);
    shell.toolbar.showProfile(profile, new Set(others.map(({ color }) => color)));
    if (next) connection.reintroduce();
  }

  const over = new AbortController();
  if (mode.exhibitSeconds !== undefined)
    exhibit({
      seconds: mode.exhibitSeconds,
      signal: over.signal,
      others: () =>
        [...state.hands]
          .flatMap(([member, { grabs }]) => (member === state.welcome?.member ? [] : grabs.map(({ target }) => target)))
          .join(),
      renew,
      // Where bodies are what is framed, they have come to rest by now.
      attract: () => {
        playground?.goHome();
        playground?.showHow();
      },
    });

  /** As the first visitor found it: the next one is somebody else. */
  function renew(touched: boolean): void {
    run("cancel");
    playground?.goHome();
    playground?.view.toggleWireframe(false);
    if (!touched || status.state !== "open") return;
    Object.assign(profile, freshProfile(profile.name));
    connection.send(build.reset());
    connection.reintroduce();
  }

  /** What this member may do now, by its role, the room's access and the line. */
  function allow(): void {
    const online = status.state === "open";
    const own = atLeast(role(), "owner");
    const pulls = atLeast(role(), "player");
    const resets = online && (own || (pulls && !access.ownersOnly));
    shell.toolbar.setAllowed(resets, online && pulls);
    shell.spares.setOnline(resets);
    shell.access.setOwner(own);
    shell.tuning.setAllowed(own, online);
    shell.element.classList.toggle("watching", !pulls);
  }

  async function duplicate(tuning: Tuning): Promise<void> {
    const made = await createRoom(state.welcome!.scene);
    handOver("duplicate", made.room, tuning);
    location.assign(`/r/${encodeURIComponent(made.room)}`);
  }

  function becomeLike(like: Tuning, now: Tuning): void {
    try {
      // a link may say anything
      const changes = changesTo(like, now).map(({ body, ...change }) => ({ ...checkTuning(change), body }));
      for (const change of changes) connection.send(build.tune(change));
      if (changes.length > 0) connection.send(build.reset());
    } catch (error) {
      sayProblem(error);
    }
  }

  function sayProblem(error: unknown): void {
    shell.toasts.show(problemText(error));
  }

  const statsTimer = setInterval(() => shell.stats.updateLocal(localStats()), STATS_MS);
  const hands = new HandWatch();
  const newsTimer = setInterval(() => {
    const news = hands.look(state.hands, state.welcome?.member);
    const sentences = news.map(({ member, body }) =>
      body === undefined
        ? t("letGo", { name: nameOf(member) })
        : t("holds", { name: nameOf(member), body: bodyName(body) }),
    );
    if (sentences.length > 0) shell.say(sentences.join(" "));
  }, NEWS_MS);

  void headsetIsThere().then((there) => there && shell.toolbar.offerVisit());

  // The socket opens meanwhile.
  const probe = probeGraphics();
  if (!probe.webgl2) leaveWith("noWebGl");

  async function draw(topology: Topology): Promise<void> {
    const turn = ++built;
    shell.setTitle(topology.title);
    shell.tuning.setBodies(topology.bodies.map(({ name }) => name));
    shell.spares.setBodies(
      topology.bodies.flatMap(({ name, look, waits }, body) => (waits ? [{ body, name, color: look.color }] : [])),
    );
    arrive();
    shell.setLoading(t("settingScene"));
    linkReport().catch(() => {});
    const { Playground } = await drawing;
    // Another topology may have come meanwhile: only the last one is drawn.
    if (turn !== built || ended) return;
    playground?.dispose();
    playground = new Playground({
      shell,
      state,
      topology,
      probe,
      profile,
      send: (bytes) => connection.send(bytes),
      online: () => status.state === "open" && atLeast(role(), "player"),
      limits: () => ({
        reach: state.welcome?.limits.reach ?? 100,
        maxGrabs: state.welcome?.limits.grabsPerMember ?? Limits.grabsPerMember,
      }),
      onCommand: run,
    });
    playground.installHook({ status: () => status.state, stats: localStats });
    playground.start(() => {
      shell.setLoading(undefined);
      tellFrame({ pliant: "ready" });
      const found = takeOver<ObjectNote[]>("found", room);
      if (found) void shell.showFound(found);
    });
  }

  /** The room is whole without it: a scene file that is gone by now only means no link. */
  async function linkReport(): Promise<void> {
    const known = await fetchRoom(room);
    const report = known && (await fetchScene(known.scene)).report;
    if (report) shell.setReport(report);
  }

  function run(command: Command): void {
    switch (command) {
      case "reset":
        return reset();
      case "push":
        if (playground) shell.toolbar.setPushing(playground.togglePushing());
        return;
      case "overlay":
        return shell.toolbar.setOverlay(shell.stats.toggle());
      case "wireframe":
        return void playground?.view.toggleWireframe();
      case "home":
        return playground?.goHome();
      case "spares":
        return shell.spares.toggle();
      case "help":
        return shell.toggleHelp();
      case "cancel":
        shell.closeAll();
        shell.spares.cancel();
        playground?.grabs.endAll(true);
        if (playground?.pushing) shell.toolbar.setPushing(playground.togglePushing());
    }
  }

  function mayReset(): boolean {
    return status.state === "open" && atLeast(role(), access.ownersOnly ? "owner" : "player");
  }

  function reset(): void {
    if (!mayReset()) return;
    const others = state.members.filter(({ member, connected }) => connected && member !== state.welcome?.member);
    if (others.length > 0 && !shell.reset.panel.isOpen) return shell.reset.ask(others.length);
    shell.reset.panel.open(false);
    connection.send(build.reset());
  }

  function noticeText(code: string, text: string, details: unknown): string {
    const said = (details as { text?: unknown } | undefined)?.text;
    if (code === "ANNOUNCEMENT" && typeof said === "string") return said;
    if (code === "PLACE_TAKEN") return placeTaken(details, text);
    if (code === "WENT_BACK") return wentBack(details, text);
    return textOfCode("notice", code) ?? text;
  }

  function wentBack(details: unknown, text: string): string {
    const seconds = (details as { seconds?: number } | undefined)?.seconds;
    return typeof seconds === "number" ? t("wentBack", { count: seconds }) : text;
  }

  /** What is in the way of a body that was to be put in. */
  function placeTaken(details: unknown, text: string): string {
    const by = (details as { by?: { body?: number; collider?: number } } | undefined)?.by;
    const name = by?.body !== undefined ? bodyName(by.body) : state.topology?.colliders[by?.collider ?? -1]?.name;
    return name === undefined ? (textOfCode("notice", "PLACE_TAKEN") ?? text) : t("inTheWay", { name });
  }

  function localStats(): LocalStats {
    const nowMs = performance.now();
    const { decode } = state;
    return {
      rttMs: state.clock?.rttMs ?? Number.NaN,
      bufferMs: state.playout?.delayMs ?? Number.NaN,
      jitterMs: state.playout?.jitterMs ?? Number.NaN,
      fps: playground?.fps(nowMs) ?? 0,
      kbpsIn: connection.received.kbps(nowMs),
      framesPerSecond: connection.received.messagesPerSecond(nowMs),
      decodeMs: decode.frames > 0 ? decode.totalMs / decode.frames : 0,
      quality: playground?.qualityText() ?? "–",
    };
  }

  function leave(code: number): void {
    if (code === CloseCode.roomGone) leaveWith("roomGone");
    else if (code === CloseCode.unsupportedVersion) leaveWith("oldClient");
    else if (code === CloseCode.tokenNeeded) leaveWith("tokenNeeded");
    else if (code === CloseCode.kicked) leaveWith("kicked");
    else if (code === CloseCode.locked) leaveWith("locked");
    else if (code === CloseCode.parked) leaveWith("parked");
    else if (code === CloseCode.tooManyAttempts) leaveWith("tooManyAttempts");
    else if (code === CloseCode.passwordNeeded) {
      end(t("passwordDocument"));
      app.replaceChildren(passwordPage(room, password !== undefined, (given) => openRoomPage(app, room, given)));
    }
  }

  function leaveWith(message: Parameters<typeof messageOf>[0]): void {
    const [title, text] = messageOf(message);
    end(title);
    app.replaceChildren(messagePage(title, text, mode.exhibitSeconds === undefined));
    if (status.state !== "ended") connection.close();
  }

  /** Nothing of the room is shown any more. */
  function end(title: string): void {
    ended = true;
    clearInterval(statsTimer);
    clearInterval(newsTimer);
    over.abort();
    // An exhibit opens again by itself, with its scene if the address names one.
    if (mode.exhibitSeconds !== undefined) reopen(mode.exhibitSeconds);
    playground?.dispose();
    document.title = t("documentTitle", { title });
  }

  // A page that is left for good says so, and its hands are let go at once instead of after the heartbeat.
  addEventListener("pagehide", (event) => {
    if (!event.persisted) connection.close();
  });
}
