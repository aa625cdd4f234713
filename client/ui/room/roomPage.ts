/** The room page: connects the connection, the room's state, the picture and the tools. */
import { CloseCode, Limits } from "../../../shared/protocol/protocol.ts";
import { closeError } from "../../sdk/errors.ts";
import { changesTo, type Tuning } from "../../../shared/members/tuningLimits.ts";
import { createRoom, fetchRoom, fetchScene, fetchTopology, fetchTunedScene, invite, undo } from "../../net/api.ts";
import { Connection, type ConnectionStatus, socketUrl } from "../../sdk/connection/roomConnection.ts";
import { build } from "../../../shared/protocol/fromClient.ts";
import type { LookRow, PinRow } from "../../../shared/protocol/fromServer.ts";
import { forgetToken, tokenFor } from "../../net/tokens.ts";
import { handOver, takeOver } from "../../state/handOver.ts";
import { atLeast, type Role } from "../../../shared/members/roles.ts";
import { checkTuning } from "../../sdk/calls/checkTuning.ts";
import { linkTo } from "../../state/duplicate.ts";
import { RoomState } from "../../state/roomState.ts";
import { slowMotionOf } from "../../state/slowMotion.ts";
import type { Command } from "../../input/keyboard.ts";
import type { Topology } from "../../../shared/topology.ts";
import { Announcements } from "./announcements.ts";
import { comparedBodies } from "./layers/labelPlaces.ts";
import { exhibit, reopen } from "./exhibit.ts";
import { frameBridge } from "./frameBridge.ts";
import { modeOf } from "./mode.ts";
import { distinctFrom, freshProfile, loadProfile, saveProfile } from "./profile.ts";
import { type GraphicsProbe, probeGraphics } from "../../view/stage/graphicsProbe.ts";
import { headsetIsThere } from "./headset.ts";
import { messageOf, messagePage } from "../messagePage.ts";
import { passwordPage } from "./passwordPage.ts";
import { RoomShell } from "./roomShell.ts";
import { saveFile } from "../saveFile.ts";
import { shareLink } from "../shareLink.ts";
import type { ObjectNote } from "../../net/api.ts";
import type { LocalStats } from "./layers/statsOverlay.ts";
import type { Playground } from "./playground.ts";
import { problemText } from "../../text/problem.ts";
import { primitiveName } from "../cards/primitiveName.ts";
import { t, textsOf } from "../../text/text.ts";

/** Interval of updates of the statistics overlay, ms. */
const STATS_MS = 250;
/** Least time between two announcements of other members' grabs, ms. */
const NEWS_MS = 1500;
/** Longest wait of the first picture for the scene's texts. */
const TEXTS_MS = 2000;

type Ending = Parameters<typeof messageOf>[0];

/** Message page by close code, for codes that end the connection. */
const ENDS: Partial<Record<number, Ending>> = {
  [CloseCode.roomGone]: "roomGone",
  [CloseCode.unsupportedVersion]: "oldClient",
  [CloseCode.tokenNeeded]: "tokenNeeded",
  [CloseCode.kicked]: "kicked",
  [CloseCode.locked]: "locked",
  [CloseCode.quarantined]: "quarantined",
  [CloseCode.tooManyAttempts]: "tooManyAttempts",
};

/** Facts about the visit that are known before the page opens. */
interface Arrival {
  /** Password of the room, after the visitor was asked for it. */
  password?: string;
  /** True if the address names a scene that does not exist. */
  noScene?: boolean;
}

export function openRoomPage(app: HTMLElement, room: string, arrival: Arrival = {}): void {
  new RoomPage(app, room, arrival);
}

class RoomPage {
  private readonly app: HTMLElement;
  private readonly room: string;
  private readonly password: string | undefined;
  private readonly noScene: boolean;
  private readonly profile = loadProfile();
  private readonly mode = modeOf(location.search);
  private readonly tellFrame: ReturnType<typeof frameBridge>;
  private readonly shell: RoomShell;
  private readonly state: RoomState;
  private readonly announcements: Announcements;
  private readonly connection: Connection;
  /** Loads the drawing code while the socket opens and the topology is fetched. */
  private readonly drawing = import("./playground.ts");
  private readonly probe: GraphicsProbe;
  private readonly over = new AbortController();
  private readonly timers: readonly ReturnType<typeof setInterval>[];
  private playground: Playground | undefined;
  private status: ConnectionStatus = { state: "connecting", attempt: 0 };
  private ended = false;
  private built = 0;
  /** Names of the bodies, as far as possible in the visitor's language. */
  private names: readonly string[] = [];
  /** Contact sounds are on. */
  private hears = false;
  private wanted: Tuning | undefined;

  constructor(app: HTMLElement, room: string, { password, noScene = false }: Arrival) {
    this.app = app;
    this.room = room;
    this.password = password;
    this.noScene = noScene;
    this.wanted = takeOver<Tuning>("duplicate", room);
    if (this.mode.name) this.profile.name = this.mode.name;
    this.tellFrame = frameBridge({
      home: () => this.run("home"),
      reset: () => this.mayReset() && this.send(build.reset()),
    });
    this.tellFrame({ pliant: "state", state: this.status.state });
    this.shell = new RoomShell(room, this.profile, this.mode, this.shellActions());
    app.replaceChildren(this.shell.element);
    this.state = new RoomState({
      fetchTopology,
      needKeyframe: (error) => {
        console.warn("a frame cannot be decoded; requesting a keyframe", error);
        this.send(build.needKeyframe());
      },
    });
    this.announcements = new Announcements(this.shell, this.state, (body) => this.bodyName(body));
    this.listen();
    this.connection = this.connect();
    // The socket opens during the probe.
    this.probe = probeGraphics();
    if (this.mode.exhibitSeconds !== undefined) this.beExhibit(this.mode.exhibitSeconds);
    this.timers = [
      setInterval(() => this.shell.stats.updateLocal(this.localStats()), STATS_MS),
      setInterval(() => this.announcements.grabs(), NEWS_MS),
    ];
    void headsetIsThere().then((there) => there && this.shell.toolbar.offerVisit());
    if (!this.probe.webgl2) this.leaveWith("noWebGl");
    // Tell the server that the page is closed: it then releases the grabs at once and not after the heartbeat timeout.
    addEventListener("pagehide", (event) => {
      if (!event.persisted) this.connection.close();
    });
  }

  private shellActions(): ConstructorParameters<typeof RoomShell>[3] {
    const { room, send, sayProblem } = this;
    const run = (command: Command) => () => this.run(command);
    return {
      profileChanged: () => this.connection.reintroduce(),
      push: run("push"),
      undo: run("undo"),
      reset: run("reset"),
      resetAll: () => send(build.reset()),
      home: run("home"),
      overlay: run("overlay"),
      strain: run("strain"),
      visit: () => this.visit(),
      help: run("help"),
      place: (body) => this.place(body),
      takeOut: (body) => send(build.remove(body)),
      dress: (body) => void this.dress(body).catch(sayProblem),
      pinHere: run("pin"),
      unpin: (pin) => send(build.unpin(pin)),
      unpinAll: () => send(build.unpin(null)),
      kick: (member, banSeconds) => send(build.kick(member, banSeconds)),
      tune: (change) => send(build.tune(change)),
      saveScene: () => void fetchTunedScene(room).then((scene) => saveFile(`${room}.json`, scene), sayProblem),
      addPalette: () => void this.addPalette().catch(sayProblem),
      saveInGallery: () => void this.saveInGallery().catch(sayProblem),
      linkScene: (tuning) => {
        const link = linkTo(location.origin, room, this.state.welcome!.scene, tuning);
        if (link) this.share(Promise.resolve(link));
        else this.say(t("linkTooLong"));
      },
      duplicate: (tuning) => void this.duplicate(tuning).catch(sayProblem),
      changeAccess: (change) => send(build.access(change)),
      react: (reaction) => send(build.react(reaction)),
      say: (text) => send(build.say(text)),
      sound: (on) => {
        this.hears = on;
        void this.playground?.setSounds(on).catch(sayProblem);
      },
      follow: (target) => {
        if (this.playground) this.playground.following = target;
      },
      invite: (as) => this.share(invite(room, as)),
      sceneHere: () => this.state.welcome?.scene,
      capture: () =>
        this.playground && {
          canvas: this.shell.canvas,
          ring: this.playground.ring,
          draw: () => this.playground?.view.stage.draw(),
        },
      goBack: (seconds) => void undo(room, seconds).catch(sayProblem),
    };
  }

  private listen(): void {
    const { state, shell, announcements } = this;
    state.add("topology", (topology) => void this.draw(topology));
    state.add("topologyFailed", (error) => {
      shell.setLoading(problemText(error));
      shell.element.classList.remove("arriving");
    });
    state.add("members", () => this.showMembers());
    state.add("access", (next) => {
      shell.access.setAccess(next);
      if (!next.chat) shell.talk.show([], true);
      this.allow();
    });
    state.add("tuned", ({ tuning }) => {
      shell.tuning.show(tuning);
      if (this.wanted && atLeast(this.role(), "owner")) this.becomeLike(this.wanted, tuning);
      this.wanted = undefined;
    });
    state.add("stats", (stats) => {
      const slow = slowMotionOf(stats, state.ticksPerSecond);
      shell.stats.updateServer(stats, slow);
      shell.costs.update(stats);
      shell.setSlowMotion(slow);
    });
    state.add("reset", ({ member }) => {
      this.playground?.grabs.endAll(false);
      announcements.reset(member);
    });
    state.add("notice", ({ code, text, details }) => {
      // The token has expired or belongs to an earlier room of this name: do not use it again.
      if (code === "TOKEN_INVALID") return forgetToken(this.room);
      announcements.notice(code, text, details);
    });
    state.add("spawnable", ({ bodies }) => {
      shell.spawnable.setAbsent(new Set(bodies));
      for (const body of bodies) this.playground?.grabs.endOn(body);
    });
    state.add("reaction", ({ member, reaction }) => announcements.reaction(member, reaction));
    state.add("said", ({ lines, earlier }) => {
      shell.talk.show(lines, earlier);
      if (earlier || shell.talk.panel.isOpen || !shell.talk.isOffered) return;
      announcements.chat(lines);
    });
    state.add("looks", ({ looks }) => this.showLooks(looks));
    state.add("pins", ({ pins, member }) => this.showPins(pins, member));
    state.add("spawned", ({ member, body }) => announcements.bodyChange(member, body, "youPutIn", "somebodyPutIn"));
    state.add("removed", ({ member, body }) => announcements.bodyChange(member, body, "youTookOut", "somebodyTookOut"));
  }

  private connect(): Connection {
    const { room, password } = this;
    return new Connection({
      url: socketUrl(location.origin, room),
      profile: () => this.profile,
      credentials: () => {
        const token = tokenFor(room);
        return { ...(token !== undefined && { token }), ...(password !== undefined && { password }) };
      },
      onEvent: (event, receivedMs) => this.state.receive(event, receivedMs),
      whyRefused: async () =>
        (await fetchRoom(room)) === undefined ? closeError(CloseCode.roomGone, "no such room") : undefined,
      onStatus: (next) => {
        this.status = next;
        this.tellFrame({ pliant: "state", state: next.state });
        this.shell.banner.update(next);
        this.allow();
        this.shell.element.classList.toggle("offline", next.state === "reconnecting");
        if (next.state !== "open") this.playground?.grabs.endAll(false);
        if (next.state === "ended") this.leave(next.code);
      },
    });
  }

  private readonly send = (bytes: Uint8Array): void => this.connection.send(bytes);
  private readonly say = (text: string): void => this.shell.toasts.show(text);
  private readonly sayProblem = (error: unknown): void => this.say(problemText(error));

  /** Role of this member for the page. An exhibit's visitors are never owners, although the page created the room. */
  private role(): Role {
    const own = this.state.welcome?.role ?? "player";
    return this.mode.exhibitSeconds !== undefined && atLeast(own, "player") ? "player" : own;
  }

  private bodyName(body: number): string {
    return this.names[body] ?? t("it");
  }

  private share(link: Promise<string>): void {
    void link.then(shareLink).then((text) => text && this.say(text), this.sayProblem);
  }

  private visit(): void {
    const entered = this.playground?.toggleVisit((on) => this.shell.toolbar.setVisiting(on));
    void entered?.catch(() => this.say(t("vrFailed")));
  }

  private place(body: number | undefined): void {
    this.playground?.setPlacing(body);
    if (body === undefined) return;
    // The canvas needs the focus, so that the keyboard can choose the place, too.
    this.shell.canvas.focus({ preventScroll: true });
    this.say(t("whereTo", { body: this.bodyName(body) }));
  }

  private showMembers(): void {
    const { members, welcome } = this.state;
    this.beDistinct();
    this.arrive();
    this.tellFrame({ pliant: "members", count: members.filter(({ connected }) => connected).length });
    this.shell.people.update(members, welcome?.member ?? 0, this.role());
    this.shell.talk.setMembers(
      members.filter(({ member, connected }) => connected && !this.announcements.isMe(member)),
    );
    this.allow();
  }

  /**
   * Shows the tools once they are known: those of the role come with the members, those of the scene with the topology.
   */
  private arrive(): void {
    if (this.state.topology && this.state.members.length > 0) this.shell.element.classList.remove("arriving");
  }

  private beDistinct(): void {
    const own = this.state.welcome?.member ?? 0;
    const others = this.state.members.filter(({ member, connected }) => connected && member !== own);
    const earlier = others.filter(({ member }) => member < own);
    const next = distinctFrom(this.profile, earlier, others);
    if (next) Object.assign(this.profile, next);
    this.shell.toolbar.showProfile(this.profile, new Set(others.map(({ color }) => color)));
    if (next) this.connection.reintroduce();
  }

  private beExhibit(seconds: number): void {
    exhibit({
      seconds,
      signal: this.over.signal,
      others: () =>
        [...this.state.grabsByMember]
          .flatMap(([member, { grabs }]) => (this.announcements.isMe(member) ? [] : grabs.map(({ target }) => target)))
          .join(),
      renew: (touched) => this.renew(touched),
      // By now the bodies have come to rest, which matters if the view is framed around them.
      attract: () => {
        this.playground?.goHome();
        this.playground?.showHow();
      },
    });
  }

  /** Restores the initial state for the next visitor, as a new member. */
  private renew(touched: boolean): boolean {
    this.run("cancel");
    this.playground?.goHome();
    this.playground?.view.toggleWireframe(false);
    this.shell.together.setAll(false);
    if (!touched) return true;
    if (this.status.state !== "open") return false;
    this.send(build.reset());
    // The lobby shows rooms without names to visitors who keep theirs.
    if (this.mode.ui === "none") return true;
    Object.assign(this.profile, freshProfile(this.profile.name));
    // Stored, so that a reload does not bring back the previous visitor's name.
    saveProfile(this.profile);
    this.connection.reintroduce();
    return true;
  }

  /** Enables the tools that this member may use now, by its role, the room's access and the connection. */
  private allow(): void {
    const { shell } = this;
    const online = this.status.state === "open";
    const own = atLeast(this.role(), "owner");
    const pulls = atLeast(this.role(), "player");
    const resets = online && (own || (pulls && !this.state.access?.ownersOnly));
    shell.toolbar.setAllowed(resets, online && pulls);
    shell.together.element.disabled = !(online && pulls);
    shell.spawnable.setOnline(resets);
    const open = this.state.access?.chat ?? true;
    shell.talk.setAllowed(online, own || (pulls && open), !open);
    shell.pins.setAllowed(resets);
    shell.access.setOwner(own);
    shell.tuning.setAllowed(own, online);
    shell.tuning.setLimits(this.state.welcome?.tuning);
    shell.element.classList.toggle("watching", !pulls);
  }

  private async duplicate(tuning: Tuning): Promise<void> {
    const made = await createRoom(this.state.welcome!.scene);
    handOver("duplicate", made.room, tuning);
    location.assign(`/r/${encodeURIComponent(made.room)}`);
  }

  private async addPalette(): Promise<void> {
    const { askForPalette } = await import("../cards/paletteDialog.ts");
    askForPalette(this.room, (text) => this.say(text));
  }

  private async dress(body: number): Promise<void> {
    const { askForLook } = await import("../cards/dressDialog.ts");
    const given = this.state.topology?.bodies[body]?.look;
    const look = { ...given, ...this.state.looks[body] };
    askForLook(this.bodyName(body), look, (change) => this.send(build.dress(body, change)));
  }

  private showLooks(looks: readonly LookRow[]): void {
    const { shell, state, playground, announcements } = this;
    shell.spawnable.setLooks(state.looks);
    for (const [body, look, member] of looks) {
      const { text, by } = look;
      shell.costs.setText(body, text);
      playground?.view.dress(body, look);
      if (text && by === member && member > 0) announcements.label(member, text);
    }
  }

  private showPins(pins: readonly PinRow[], member: number): void {
    const { shell, state } = this;
    shell.pins.set(state.pins, (body) => this.bodyName(body));
    shell.access.setPins(pins.length);
    this.announcements.pins(member, pins.length);
  }

  private async saveInGallery(): Promise<void> {
    const { saveInGallery } = await import("../gallery/saveRoom.ts");
    saveInGallery(this.room, this.state.topology?.title ?? "", (text) => this.say(text));
  }

  private becomeLike(like: Tuning, now: Tuning): void {
    try {
      // A link may contain any values: check them.
      const changes = changesTo(like, now).map(({ body, ...change }) => ({ ...checkTuning(change), body }));
      for (const change of changes) this.send(build.tune(change));
      if (changes.length > 0) this.send(build.reset());
    } catch (error) {
      this.sayProblem(error);
    }
  }

  private async draw(topology: Topology): Promise<void> {
    const { shell } = this;
    const turn = ++this.built;
    shell.setTitle(topology.title);
    shell.together.offer(topology.interaction.together !== undefined);
    this.nameBodies(topology, []);
    this.arrive();
    shell.setLoading(t("settingScene"));
    const explained = this.explain(topology)
      .catch(() => {})
      .then(() => shell.showBadges());
    const late = new Promise((resolve) => setTimeout(resolve, TEXTS_MS));
    const { Playground } = await this.drawing;
    // A newer topology may have arrived meanwhile: draw only the last one.
    if (turn !== this.built || this.ended) return;
    this.playground?.dispose();
    const playground = (this.playground = new Playground({
      shell,
      state: this.state,
      topology,
      probe: this.probe,
      profile: this.profile,
      send: this.send,
      online: () => this.status.state === "open" && atLeast(this.role(), "player"),
      limits: () => ({
        reach: this.state.welcome?.limits.reach ?? 100,
        maxGrabs: this.state.welcome?.limits.grabsPerMember ?? Limits.grabsPerMember,
      }),
      bodyName: (body) => this.bodyName(body),
      onCommand: (command) => this.run(command),
    }));
    this.showLooks(Object.entries(this.state.looks).map(([body, look]) => [Number(body), look, 0]));
    playground.installHook({ status: () => this.status.state, stats: () => this.localStats() });
    shell.toolbar.setStrain(topology.showStrain !== undefined && playground.view.toggleStrain());
    shell.talk.setFollowing(undefined);
    if (this.hears) void playground.setSounds(true).catch(this.sayProblem);
    // The hint takes its place before the first picture, so that the view does not move under a pointer.
    await Promise.race([explained.then(() => this.showHint(playground)), late]);
    if (turn !== this.built || this.ended) return;
    playground.start(() => {
      shell.setLoading(undefined);
      this.tellFrame({ pliant: "ready" });
      const found = takeOver<ObjectNote[]>("found", this.room);
      if (found) void shell.showFound(found);
    });
  }

  /** Shows the hint, and frames the bodies in the area that it leaves free. */
  private showHint(playground: Playground): void {
    if (this.mode.exhibitSeconds !== undefined || playground !== this.playground) return;
    this.shell.showHint(atLeast(this.role(), "player"));
    playground.view.reframe();
  }

  /**
   * Links the physics report, if the scene has a section there, and names the bodies that a lesson compares. Failures
   * are ignored: both are optional.
   */
  private async explain(topology: Topology): Promise<void> {
    const known = await fetchRoom(this.room);
    if (!known) return;
    const scene = await fetchScene(known.scene);
    const { report, lesson } = scene;
    this.shell.setTexts(textsOf(scene));
    if (topology !== this.state.topology) return;
    const { names = [] } = textsOf(scene.scene);
    if (names.length > 0) this.nameBodies(topology, names);
    if (report) this.shell.setReport(report);
    if (lesson) this.shell.costs.setBodies(this.names, comparedBodies(topology.bodies));
    // Labels are placed with a picture, and bodies at rest need no other.
    this.playground?.view.invalidate();
  }

  /** @param names by the scene's author; missing ones are those of the topology */
  private nameBodies({ bodies }: Topology, names: readonly string[]): void {
    const { shell, state } = this;
    this.names = bodies.map(({ name }, body) => names[body] ?? primitiveName(name));
    shell.tuning.setBodies(this.names);
    shell.costs.setBodies(this.names, []);
    shell.talk.setBodies(this.names);
    shell.pins.set(state.pins, (body) => this.bodyName(body));
    shell.spawnable.setBodies(
      bodies.flatMap(({ look, spawnable }, body) =>
        spawnable ? [{ body, name: this.names[body]!, color: look.color }] : [],
      ),
    );
    shell.spawnable.setLooks(state.looks);
  }

  private run(command: Command): void {
    const { shell, playground } = this;
    switch (command) {
      case "reset":
        return this.reset();
      case "undo":
        if (this.status.state === "open") this.send(build.undo());
        return;
      case "push":
        if (playground) shell.toolbar.setPushing(playground.togglePushing());
        return;
      case "overlay":
        return shell.toolbar.setOverlay(shell.stats.toggle());
      case "strain":
        if (playground) shell.toolbar.setStrain(playground.view.toggleStrain());
        return;
      case "wireframe":
        return void playground?.view.toggleWireframe();
      case "pin":
        return playground?.grabs.pin();
      case "home":
        shell.talk.setFollowing(undefined);
        return playground?.goHome();
      case "talk":
        return shell.talk.toggle();
      case "spares":
        return shell.spawnable.toggle();
      case "help":
        return shell.toggleHelp();
      case "cancel":
        shell.closeAll();
        shell.spawnable.cancel();
        playground?.grabs.endAll(true);
        if (playground?.pushing) shell.toolbar.setPushing(playground.togglePushing());
    }
  }

  private mayReset(): boolean {
    return this.status.state === "open" && atLeast(this.role(), this.state.access?.ownersOnly ? "owner" : "player");
  }

  private reset(): void {
    if (!this.mayReset()) return;
    const { reset } = this.shell;
    const others = this.state.members.filter(({ member, connected }) => connected && !this.announcements.isMe(member));
    if (others.length > 0 && !reset.panel.isOpen) return reset.ask(others.length);
    reset.panel.open(false);
    this.send(build.reset());
  }

  private localStats(): LocalStats {
    const nowMs = performance.now();
    const { frames, clock, playout } = this.state;
    const { received } = this.connection;
    return {
      rttMs: clock?.rttMs ?? Number.NaN,
      bufferMs: playout?.delayMs ?? Number.NaN,
      jitterMs: playout?.jitterMs ?? Number.NaN,
      fps: this.playground?.fps(nowMs) ?? 0,
      kbpsIn: received.kbps(nowMs),
      framesPerSecond: received.messagesPerSecond(nowMs),
      decodeMs: frames?.tick === undefined ? 0 : frames.decode.totalMs / frames.decode.frames,
      quality: this.playground?.qualityText() ?? "–",
    };
  }

  private leave(code: number): void {
    const message = ENDS[code];
    if (message) this.leaveWith(message === "roomGone" && this.noScene ? "sceneGone" : message);
    else if (code === CloseCode.passwordNeeded) {
      const { app, room } = this;
      this.end(t("passwordDocument"));
      app.replaceChildren(
        passwordPage(room, this.password !== undefined, (given) => openRoomPage(app, room, { password: given })),
      );
    }
  }

  private leaveWith(message: Ending): void {
    const [title, text] = messageOf(message);
    this.end(title);
    this.app.replaceChildren(messagePage(title, text, this.mode.exhibitSeconds === undefined));
    if (this.status.state !== "ended") this.connection.close();
  }

  /** Ends all activity of the page. */
  private end(title: string): void {
    this.ended = true;
    for (const timer of this.timers) clearInterval(timer);
    this.over.abort();
    // A topology that is still loading must not build a playground.
    this.state.end();
    // An exhibit reloads itself. It then creates the room again if the address names a scene.
    if (this.mode.exhibitSeconds !== undefined) reopen(this.mode.exhibitSeconds);
    this.playground?.dispose();
    document.title = t("documentTitle", { title });
  }
}
