/**
 * The part of the room page that needs three.js: picture, grabs, keyboard, and the animation loop that connects them to
 * the room's state.
 */
import { Vector3 } from "three";
import type { Pin } from "../../../shared/members/pin.ts";
import type { Topology } from "../../../shared/topology.ts";
import { installDebugHook, type HookSources } from "../../debugHook.ts";
import { GrabController } from "../../input/grabController.ts";
import { listenToKeys, type Command } from "../../input/keyboard.ts";
import { KeyboardPointer } from "../../input/keyboardPointer.ts";
import { listenToPointers } from "../../input/pointerInput.ts";
import { Presence } from "../../input/presence.ts";
import { build } from "../../../shared/protocol/fromClient.ts";
import type { Point } from "../../../shared/protocol/fromServer.ts";
import { counterparts } from "../../../shared/geometry/surfacePoints.ts";
import type { RoomState } from "../../state/roomState.ts";
import { type DrawnCursor, type DrawnGrab, drawnGrabs, GREY } from "../../view/grabs/cursorsView.ts";
import { LEVELS } from "../../view/stage/pictureQuality.ts";
import { RoomView, type Picked } from "../../view/roomView.ts";
import { FrameRing } from "../../capture/frameRing.ts";
import { freeArea } from "./layers/freeArea.ts";
import type { GraphicsProbe } from "../../view/stage/graphicsProbe.ts";
import type { Profile } from "./profile.ts";
import type { RoomShell } from "./roomShell.ts";
import { t } from "../../text/text.ts";
import { FollowCamera, middleOf } from "../../view/stage/followCamera.ts";
import type { ContactSounds } from "../../sound/contactSounds.ts";
import type { Followed } from "../cards/talkPanel.ts";
import type { Visit } from "../../xr/visit.ts";

export interface PlaygroundOptions {
  shell: RoomShell;
  state: RoomState;
  topology: Topology;
  probe: GraphicsProbe;
  profile: Profile;
  send: (bytes: Uint8Array) => void;
  online: () => boolean;
  limits: () => { reach: number; maxGrabs: number };
  bodyName: (body: number) => string;
  onCommand: (command: Command) => void;
}

/** Share of the scene's largest impulse that a push uses. */
const PUSH = 0.75;

/** Added to twice the round trip and the buffer delay, ms: after this time no answer to a grab is expected any more. */
const PATIENCE_MS = 1000;

/** A press of the mouse this far beside a body still grabs it, CSS pixels. */
const HOLD_PX = 6;

/** The place under a mouse at rest is looked for so often while bodies move, ms. */
const HOVER_MS = 100;

/** Shared empty list for pictures without grabs. */
const NONE: readonly never[] = [];

/** Keys and the debugging hook are installed once per page, even if the room is resumed with another scene. */
let installed = false;

export class Playground {
  readonly view: RoomView;
  readonly grabs: GrabController;
  /** Pictures of the last seconds. */
  readonly ring = new FrameRing();
  pushing = false;
  /** The body that the next click puts in. */
  private placing: number | undefined;
  /** Place of the mouse, window pixels; undefined outside of the canvas. */
  private pointer: { x: number; y: number } | undefined;
  /** When the place under the mouse is looked for next, if anything moves, ms. */
  private hoverMs = 0;
  private readonly options: PlaygroundOptions;
  private readonly presence: Presence;
  private tick = Number.NaN;
  private running = true;
  private readonly ended = new AbortController();
  /** The headset session, which then draws the pictures. */
  private visit: Visit | undefined;
  private onFirstPicture: () => void = () => {};
  /** The camera keeps it in the middle. */
  following: Followed | undefined;
  private readonly followCamera = new FollowCamera();
  private readonly middle = new Vector3();
  /** Undefined while they are off. */
  sounds: ContactSounds | undefined;
  private wantsSounds = false;
  /** The loop is paused: the page is hidden, or a headset draws. */
  private idle = false;
  /** Point that the ghost cursor seems to grab. */
  private ghostAt: Picked | undefined;
  private lastMs = performance.now();
  private drawTimes: number[] = [];
  private firstDrawnFrameMs: number | undefined;
  private firstMovingFrameMs: number | undefined;

  constructor(options: PlaygroundOptions) {
    this.options = options;
    const { shell, state, topology, probe, profile } = options;
    this.view = new RoomView(shell.canvas, topology, state.displayed, probe);
    this.view.freeArea = () => freeArea(shell.element);
    this.view.showCursors = shell.cursors.show.bind(shell.cursors);
    this.view.showStrainScale = shell.strain.show.bind(shell.strain);
    this.view.showFeet = shell.costs.show.bind(shell.costs);
    this.grabs = new GrabController({
      view: this.view,
      acknowledged: state.acknowledged,
      send: (bytes) => {
        shell.ghost.end();
        shell.hideHint();
        options.send(bytes);
      },
      color: () => profile.color,
      reach: () => options.limits().reach,
      worldOrigin: new Vector3(...topology.origin).negate(),
      maxGrabs: options.limits().maxGrabs,
      others: (picked) => (this.holdsAll(picked) ? counterparts(picked, this.view.bodies, this.together) : NONE),
    });
    this.presence = new Presence(this.view, options.send);
    listenToPointers({
      view: this.view,
      grabs: this.grabs,
      area: shell.element,
      canvas: shell.canvas,
      pushing: () => this.pushing,
      push: (picked) => this.push(picked),
      placing: () => this.placing !== undefined,
      place: (x, y) => this.place(x, y),
      hover: (at) => {
        this.presence.hover(at);
        this.pointer = at;
        this.hoverMs = 0;
      },
      enabled: () => options.online() && this.running,
    });
    this.listenToKeyboardPointer();
    if (!installed) listenToKeys(options.onCommand);
  }

  private get together(): readonly number[] {
    return this.options.topology.interaction.together ?? NONE;
  }

  /** True if a grab of this body now grabs all bodies in `together`. */
  private holdsAll({ body }: Pick<Picked, "body">): boolean {
    return this.options.shell.together.all && this.together.includes(body);
  }

  private listenToKeyboardPointer(): void {
    const { shell, bodyName, online } = this.options;
    new KeyboardPointer({
      view: this.view,
      grabs: this.grabs,
      canvas: shell.canvas,
      mark: shell.mark,
      signal: this.ended.signal,
      enabled: () => online() && this.running,
      click: (x, y, picked) => {
        if (this.placing !== undefined) this.place(x, y);
        else if (this.pushing && picked) this.push(picked);
        else return this.pushing;
        return true;
      },
      did: (what, picked) => {
        if (what === "held")
          shell.say(t("youHold", { body: this.holdsAll(picked!) ? t("all") : bodyName(picked!.body) }));
        else shell.say(t(what === "released" ? "youLetGo" : "nothingThere"));
      },
    });
  }

  /** @param onFirstPicture called once when the bodies have been drawn */
  start(onFirstPicture: () => void): void {
    this.onFirstPicture = onFirstPicture;
    requestAnimationFrame(this.loop);
    document.addEventListener(
      "visibilitychange",
      () => {
        // A pointer that is released outside of a hidden page would pull forever.
        if (document.hidden) return this.grabs.endAll(true);
        this.options.state.returned();
        this.resume();
      },
      { signal: this.ended.signal },
    );
  }

  private readonly loop = (nowMs: number): void => {
    if (!this.running) return;
    this.idle = document.hidden || this.visit !== undefined;
    if (this.idle) return;
    requestAnimationFrame(this.loop);
    const drew = this.frame(nowMs);
    if (drew && this.firstDrawnFrameMs === undefined && !Number.isNaN(this.tick)) {
      this.firstDrawnFrameMs = performance.now();
      performance.mark("pliant:first-drawn-frame");
      this.onFirstPicture();
      this.view.warmUp();
      this.showHow();
    }
  };

  private resume(): void {
    if (this.idle) requestAnimationFrame(this.loop);
    this.idle = false;
  }

  /**
   * Starts or ends the headset session.
   * @param changed called when the session has begun, and when it has ended
   * @throws the browser's error
   */
  async toggleVisit(changed: (visiting: boolean) => void): Promise<void> {
    if (this.visit) return this.visit.end();
    const { Visit } = await import("../../xr/visit.ts");
    this.visit = await Visit.begin({
      view: this.view,
      grabs: this.grabs,
      push: (picked, part) => this.push(picked, part),
      enabled: () => this.options.online() && this.running,
      color: this.options.profile.color,
      frame: (nowMs) => this.frame(nowMs),
      ended: () => {
        this.visit = undefined;
        this.resume();
        changed(false);
      },
    });
    changed(true);
  }

  installHook({ status, stats }: Pick<HookSources, "status" | "stats">): void {
    if (installed) return;
    installed = true;
    installDebugHook({
      state: this.options.state,
      status,
      stats,
      tick: () => this.tick,
      view: () => this.view,
      grabs: () => this.drawnGrabs(),
      cursors: () => this.drawnCursors(),
      seen: (point) => this.visit?.seen(point),
      sounds: () => this.sounds?.played,
      firstDrawnFrameMs: () => this.firstDrawnFrameMs,
      firstMovingFrameMs: () => this.firstMovingFrameMs,
    });
  }

  /** Sets the body that the next click puts in; undefined: none. */
  setPlacing(body: number | undefined): void {
    this.placing = body;
    this.options.shell.element.classList.toggle("placing", body !== undefined);
  }

  togglePushing(): boolean {
    this.pushing = !this.pushing;
    this.options.shell.element.classList.toggle("pushing", this.pushing);
    return this.pushing;
  }

  goHome(): void {
    this.following = undefined;
    this.view.home();
  }

  /** Pictures drawn in the last second. */
  fps(nowMs: number): number {
    this.drawTimes = this.drawTimes.filter((ms) => nowMs - ms < 1000);
    return this.drawTimes.length;
  }

  qualityText(): string {
    const { pixelRatio, shadowMap } = LEVELS[this.view.stage.quality.level]!;
    const ratio = String(Math.min(devicePixelRatio, pixelRatio));
    return shadowMap > 0 ? t("withShadows", { ratio, size: String(shadowMap) }) : t("withoutShadows", { ratio });
  }

  dispose(): void {
    this.running = false;
    this.ended.abort();
    this.visit?.end();
    void this.setSounds(false);
    this.grabs.endAll(false);
    this.view.dispose();
  }

  /** @returns true if a picture was drawn */
  private frame(nowMs: number): boolean {
    const { state } = this.options;
    const sampled = state.sample(nowMs);
    if (sampled) this.tick = sampled.tick;
    const bufferMs = state.playout?.delayMs ?? 0;
    const rttMs = state.clock?.rttMs ?? 0;
    const bends = this.grabs.update({
      nowMs,
      tick: this.tick,
      sendTicks: state.sendTicks,
      patienceMs: PATIENCE_MS + 2 * ((Number.isFinite(rttMs) ? rttMs : 0) + bufferMs),
    });
    this.presence.update(nowMs, this.grabs.count > 0);
    this.options.shell.pins.show(this.grabs.count > 0, this.placeOf);
    const elapsedMs = Math.min(250, nowMs - this.lastMs);
    const seconds = state.time.at(this.tick) / this.options.topology.tickHz;
    const at = this.followed();
    if (at) this.followCamera.update(this.view.stage, at, elapsedMs);
    const drew = this.view.frame({
      nowMs,
      elapsedMs,
      moved: sampled?.moved ?? false,
      seconds,
      yields: state.yields.at(this.tick),
      hasFrame: sampled !== undefined,
      hidden: state.hidden,
      grabs: this.drawnGrabs(),
      cursors: this.drawnCursors(),
      bends,
    });
    this.showHold(nowMs, drew);
    if (sampled) this.sounds?.update(state.buffer!.list(), this.tick);
    if (drew) this.followGhost();
    this.options.shell.tuning.turnCompass(this.view.stage.controls.getAzimuthalAngle());
    if (drew && !this.visit) this.ring.take(this.options.shell.canvas, nowMs);
    if (drew) this.drawTimes.push(nowMs);
    if (drew && sampled?.moved && this.firstDrawnFrameMs !== undefined && this.firstMovingFrameMs === undefined) {
      this.firstMovingFrameMs = performance.now();
      performance.mark("pliant:first-moving-frame");
    }
    this.lastMs = nowMs;
    return drew;
  }

  /** Point that the camera keeps in the middle; undefined: none, or it is not in the room. */
  private followed(): Vector3 | undefined {
    const { following, options } = this;
    if (following === undefined || Number.isNaN(this.tick)) return undefined;
    if ("body" in following) {
      const body = this.view.bodies[following.body];
      return body && !body.hidden ? middleOf(body.positions, this.middle) : undefined;
    }
    const shown = options.state.grabsByMember.get(following.member);
    const at = shown?.grabs.at(-1)?.target ?? shown?.cursor;
    return at && this.middle.set(...at);
  }

  /** Turns contact sounds on or off. The synthesizer is loaded when it is first needed. */
  async setSounds(on: boolean): Promise<void> {
    this.wantsSounds = on;
    this.sounds?.dispose();
    this.sounds = undefined;
    if (!on) return;
    const { ContactSounds: Sounds } = await import("../../sound/contactSounds.ts");
    if (!this.wantsSounds || !this.running) return;
    const { view } = this;
    this.sounds = new Sounds(this.options.topology, {
      silent: (body, tick) =>
        this.options.state.isAbsent(body, tick) || this.drawnGrabs().some((grab) => grab.body === body),
      secondsAt: (tick) => this.options.state.time.at(tick) / this.options.topology.tickHz,
      pan: (at) => (2 * (view.project(new Vector3(...at))?.x ?? innerWidth / 2)) / innerWidth - 1,
    });
  }

  /** Marks the place under the mouse that a press would take hold of. @param moved bodies or the view have moved */
  private showHold(nowMs: number, moved: boolean): void {
    const { pointer: at, hoverMs, options } = this;
    if (hoverMs > 0 && !(moved && nowMs > hoverMs)) return;
    this.hoverMs = nowMs + HOVER_MS;
    const free = at !== undefined && this.grabs.count === 0 && this.placing === undefined && options.online();
    options.shell.showRing(free && this.view.pick(at.x, at.y, HOLD_PX) ? at : undefined);
  }

  /** Place of a pin in the picture, CSS pixels. */
  private readonly placeOf = (at: Pin): { x: number; y: number } | undefined => {
    const body = this.view.bodies[at.body];
    return body && !body.hidden && !Number.isNaN(this.tick) ? this.view.project(this.view.surfacePoint(at)) : undefined;
  };

  /** Shows the ghost cursor at the body nearest to the middle. */
  showHow(): void {
    const { online, profile, shell } = this.options;
    this.ghostAt = online() ? this.view.pickMiddle() : undefined;
    if (this.ghostAt) shell.ghost.begin(profile.color);
    this.followGhost();
  }

  private followGhost(): void {
    const { ghost } = this.options.shell;
    if (!ghost.shown || !this.ghostAt) return;
    const at = this.view.project(this.view.surfacePoint(this.ghostAt));
    if (at) ghost.follow(at);
  }

  private place(clientX: number, clientY: number): void {
    const { send, shell } = this.options;
    send(build.spawn(this.placing!, this.view.pointAt(clientX, clientY).toArray() as Point, { occupied: "lift" }));
    shell.ghost.end();
    shell.spawnable.cancel();
  }

  /** @param part share of the scene's largest impulse */
  private push(picked: Picked, part = PUSH): void {
    const { topology, send, shell } = this.options;
    shell.ghost.end();
    send(
      build.impulse(
        picked,
        picked.direction
          .clone()
          .multiplyScalar(part * topology.interaction.maxImpulse)
          .toArray() as Point,
      ),
    );
  }

  private drawnGrabs(): readonly DrawnGrab[] {
    const { state } = this.options;
    if (this.grabs.count === 0 && state.grabsByMember.size === 0) return NONE;
    const others = [...state.grabsByMember.values()].filter(({ member }) => member !== state.welcome?.member);
    const colorOf = (member: number): string => state.members.find((m) => m.member === member)?.color ?? GREY;
    return [...this.grabs.drawn(), ...drawnGrabs(others, colorOf)];
  }

  private drawnCursors(): readonly DrawnCursor[] {
    const { state } = this.options;
    if (state.grabsByMember.size === 0) return NONE;
    const cursors: DrawnCursor[] = [];
    for (const { member, name, color, connected } of state.members) {
      const shown = state.grabsByMember.get(member);
      if (!connected || !shown || member === state.welcome?.member) continue;
      // A member with a grab is shown at its target, otherwise at its cursor.
      const at = shown.grabs.at(-1)?.target ?? shown.cursor;
      if (at) cursors.push({ member, name, color, at });
    }
    return cursors;
  }
}
