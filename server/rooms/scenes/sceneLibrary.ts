/**
 * Loads the scenes of the scenes folder and builds their templates. A template is built once per content of its scene
 * file; opening a room only copies it. Listing scenes reads the folder at most once in LISTED_MS for all callers, so a
 * new scene file appears without a restart.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual, promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyBaseLogger } from "fastify";
import { CodedError } from "../../../shared/errorCodes.ts";
import { REFUSALS } from "../../../shared/scene/objectCodes.ts";
import type { Scene } from "../../../shared/scene/scene.ts";
import { sceneOf } from "../../../shared/scene/sceneValidator.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import type { FoundInMesh } from "../../sim/body/meshes.ts";
import type { BodyNote } from "../../sim/scene/standIns.ts";
import type { WorldLayout } from "../../sim/types.ts";
import type { RoomShape } from "../../workers/messages.ts";
import { STORED_SCENE } from "../../objects/objects.ts";
import { BuildProgress } from "../../workers/builders/buildProgress.ts";
import type { WorkerPools } from "../../workers/pool.ts";
import { SceneBudget } from "../ticks/sceneBudget.ts";

export interface SceneSummary {
  id: string;
  title: string;
  description: string;
  /** One thing to do and one to notice, and all texts in other languages. */
  try?: string;
  notice?: string;
  texts?: Scene["texts"];
  bodies: number;
  /** Path of the scene's picture file, if there is one. */
  thumbnail?: string;
  /** The same for dark pages. */
  darkThumbnail?: string;
  /** Path of a painted picture, if there is no picture file and the scene is built. */
  picture?: string;
  /** Kinds of its bodies, sorted. */
  kinds: readonly string[];
  /** True if it reproduces a figure of a paper. */
  lesson: boolean;
  /** Path of the section of the physics report that measures this scene's effect, if there is a report. */
  report?: string;
}

/** A built scene: everything that its rooms share. */
export interface SceneTemplate {
  scene: string;
  /** Text of the scene's file as it was built, and the shapes of the objects in it. */
  text: string;
  shapes: ReadonlyMap<string, Uint8Array>;
  memory: WebAssembly.Memory;
  /** Ranges of the memory that are not zero (workers/stepping/memoryCopy.ts). */
  filled: Uint32Array;
  layout: WorldLayout;
  topology: SharedArrayBuffer;
  topologyHash: string;
  /** State identity: worlds of the same identity can load its states (workers/stateIdentity.ts). */
  identity: string;
  shape: RoomShape;
  /** Findings in its meshes, and changes to its bodies. */
  found: readonly (FoundInMesh | BodyNote)[];
  /** Checks the step times of the scene's rooms. */
  budget: SceneBudget;
}

/** A topology as HTTP sends it; the compressed forms appear shortly after the build. */
export interface TopologyDocument {
  raw: Buffer;
  gzip: Buffer | null;
  brotli: Buffer | null;
}

export interface SceneLibraryOptions {
  scenesDir: string;
  /** Folder of the physics report. */
  reportDir: string;
  clientDir: string;
  pools: WorkerPools;
  metrics: Metrics;
  log: FastifyBaseLogger;
  /** Access to stored scenes and their objects. */
  stored: StoredScenes;
  /** Ids of the scenes of this process's rooms. */
  inUse: () => Iterable<string>;
}

/** Source of scenes that contain visitors' objects (objects/objects.ts). */
interface StoredScenes {
  sceneText(id: string): Promise<string | null>;
  shapes(scene: Scene): Promise<Map<string, Uint8Array>>;
}

/** A scene file, parsed and validated. */
interface ReadScene {
  scene: Scene;
  text: string;
  /** SHA-256 of the text. */
  fileHash: string;
}

/** The list of the folder as HTTP sends it; the same object as long as nothing changes. */
export interface SceneListing {
  scenes: readonly SceneSummary[];
  /** Ids of invalid scenes, which are left out, each with its error. */
  broken: readonly { id: string; error: string }[];
}

/** Lifetime of a list, ms: all callers together cost the file system one read. */
const LISTED_MS = 1000;
/** A file that changed less than this time ago is read again, because it may still be written, ms. */
const FRESH_MS = 100;
const SCENE_ID = /^[a-z0-9][a-z0-9-]{0,39}$/;
/** Longest scene file, bytes; meshes are separate files. The same limit as in sim/scene/readScene.ts. */
const MAX_SCENE_BYTES = 4 * 1024 * 1024;
/** Number of stored scenes that stay built without a room here, because rooms of other processes may use them. */
const MOST_UNUSED = 8;
const PICTURES = ["webp", "png", "jpg", "svg"];

export class SceneLibrary {
  readonly #options: SceneLibraryOptions;
  /** Templates by scene id; the hash detects a changed file. */
  readonly #templates = new Map<string, { fileHash: string; template: Promise<SceneTemplate> }>();
  /** Result of the last read of each file. A file whose `stat` is unchanged is not read or validated again. */
  readonly #read = new Map<string, (ReadScene | { error: CodedError }) & { state: string }>();
  readonly #leftOut = new Map<string, string>();
  /** Finished templates, by scene id. */
  readonly #built = new Map<string, SceneTemplate>();
  #listing: Promise<SceneListing> | null = null;
  #listed: SceneListing = { scenes: [], broken: [] };
  /** Time of the last list, ms on performance.now(). */
  #listedMs = -Infinity;
  readonly #topologies = new Map<string, TopologyDocument>();
  /** Resolves when the topologies published until now are as small as they get. */
  compressed: Promise<unknown> = Promise.resolve();
  /** Progress of running builds, by scene id. */
  readonly #progress = new Map<string, BuildProgress>();

  constructor(options: SceneLibraryOptions) {
    this.#options = options;
  }

  /** Lists all valid scenes, by id. Invalid ones are logged and left out. */
  async list(): Promise<SceneListing> {
    if (this.#listing) return this.#listing;
    if (performance.now() - this.#listedMs < LISTED_MS) return this.#listed;
    const listing = this.#list().finally(() => (this.#listing = null));
    listing.catch(() => (this.#listedMs = -Infinity));
    return (this.#listing = listing);
  }

  async #list(): Promise<SceneListing> {
    const { scenesDir, log } = this.#options;
    // Set the time before the folder is read, so that a scene built meanwhile makes the list outdated.
    this.#listedMs = performance.now();
    const pictures = new Set(await readdir(join(this.#options.clientDir, "thumbnails")).catch(() => []));
    const reported = this.#hasReport();
    const files = (await readdir(scenesDir)).filter((file) => file.endsWith(".json") && file !== "schema.json").sort();
    const scenes: SceneSummary[] = [];
    for (const file of this.#leftOut.keys()) if (!files.includes(file)) this.#leftOut.delete(file);
    for (const file of files) {
      try {
        const id = file.slice(0, -".json".length);
        scenes.push(this.#summary(id, await this.read(id), pictures, reported));
        this.#leftOut.delete(file);
      } catch (error) {
        // Log once for each state of the file, so that list requests do not fill the log.
        const said = `${(error as Error).message}`;
        if (this.#leftOut.get(file) !== said) log.warn({ file, err: error }, "scene left out");
        this.#leftOut.set(file, said);
      }
    }
    const broken = [...this.#leftOut].map(([file, error]) => ({ id: file.slice(0, -".json".length), error }));
    const listed = { scenes, broken };
    if (!isDeepStrictEqual(listed, this.#listed)) this.#listed = listed;
    return this.#listed;
  }

  /** @throws CodedError SCENE_NOT_FOUND, SCENE_INVALID */
  async summary(id: string): Promise<SceneSummary & { scene: Scene }> {
    const read = await this.read(id);
    const pictures = PICTURES.flatMap((type) => [`${id}.${type}`, `${id}.dark.${type}`]).filter((file) =>
      existsSync(join(this.#options.clientDir, "thumbnails", file)),
    );
    return { ...this.#summary(id, read, new Set(pictures), this.#hasReport()), scene: read.scene };
  }

  /**
   * Returns the scene's template; builds it if this content has not been built yet.
   * @param by address that the build time is charged to (workers/builders/builder.ts)
   * @throws CodedError SCENE_NOT_FOUND, SCENE_INVALID, BUILD_FAILED
   */
  async template(id: string, by?: string): Promise<SceneTemplate> {
    const { text, fileHash } = await this.read(id);
    const known = this.#templates.get(id);
    if (known?.fileHash === fileHash) return known.template;
    const template = this.#build(id, text, by);
    this.#templates.set(id, { fileHash, template });
    // A failed build may succeed later (a mesh file that was missing); do not remember it.
    template.then(
      (built) => {
        this.#built.set(id, built);
        // A built scene can be painted, so the list is outdated.
        this.#listedMs = -Infinity;
        if (STORED_SCENE.test(id)) this.#forgetUnused();
      },
      () => {
        if (this.#templates.get(id)?.template === template) this.#templates.delete(id);
      },
    );
    return template;
  }

  /** Forgets the template of a scene that names one of these mesh files, because their content has changed. */
  forgetWithFiles(id: string, files: readonly string[]): void {
    const text = this.#built.get(id)?.text;
    if (text !== undefined && files.some((file) => !file.endsWith(".json") && text.includes(file)))
      this.#templates.delete(id);
  }

  /** Returns the template if it matches the current file. @throws CodedError SCENE_NOT_FOUND, SCENE_INVALID */
  async built(id: string): Promise<SceneTemplate | undefined> {
    const { text } = await this.read(id);
    const built = this.#built.get(id);
    return built?.text === text ? built : undefined;
  }

  /**
   * Builds the scenes that are not built here yet, and waits for those under way. Another process steps their rooms,
   * but visitors request their topologies here. Never rejects.
   */
  async buildMissing(scenes: Iterable<string>): Promise<void> {
    // The error is logged, and a request for the scene gets a 404.
    for (const scene of new Set(scenes))
      await (this.#templates.get(scene)?.template ?? this.template(scene)).catch(() => {});
  }

  /** Forgets the oldest built stored scenes that no room uses. Scenes of the folder are few enough to stay built. */
  #forgetUnused(): void {
    const used = new Set(this.#options.inUse());
    const unused = [...this.#built.keys()].filter((id) => STORED_SCENE.test(id) && !used.has(id));
    for (const id of unused.slice(0, -MOST_UNUSED)) this.#forget(id);
  }

  /** Forgets a deleted stored scene, unless a room here uses it. */
  forgetDeleted(id: string): void {
    if (![...this.#options.inUse()].includes(id)) this.#forget(id);
  }

  #forget(id: string): void {
    const hash = this.#built.get(id)?.topologyHash;
    this.#templates.delete(id);
    this.#built.delete(id);
    if (hash !== undefined && ![...this.#built.values()].some(({ topologyHash }) => topologyHash === hash))
      this.#topologies.delete(hash);
  }

  /** Progress of the scene's build; undefined: no build is running. */
  progress(id: string): ReturnType<BuildProgress["look"]> | undefined {
    return this.#progress.get(id)?.look();
  }

  topology(hash: string): TopologyDocument | undefined {
    return this.#topologies.get(hash);
  }

  /** @throws CodedError SCENE_NOT_FOUND, SCENE_INVALID */
  async read(id: string): Promise<ReadScene> {
    if (STORED_SCENE.test(id)) return this.#readStored(id);
    if (!SCENE_ID.test(id) || id === "schema") throw new CodedError("SCENE_NOT_FOUND", { field: "scene", value: id });
    let text: string;
    let size: number;
    let state: string;
    const startMs = Date.now();
    try {
      const found = await stat(this.#path(id), { bigint: true });
      size = Number(found.size);
      state = `${found.dev} ${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;
      const known = this.#read.get(id);
      if (known?.state === state) {
        if ("error" in known) throw known.error;
        return known;
      }
      text = size <= MAX_SCENE_BYTES ? new TextDecoder().decode(await readFile(this.#path(id))) : "";
      // A file that is being written may change again within the same tick of the file system's clock.
      if (startMs - Number(found.ctimeNs / 1_000_000n) < FRESH_MS) state = "";
    } catch (error) {
      if (error instanceof CodedError) throw error;
      this.#read.delete(id);
      throw new CodedError("SCENE_NOT_FOUND", { field: "scene", value: id });
    }
    const keep = <T extends ReadScene | { error: CodedError }>(read: T): T => {
      this.#read.set(id, { ...read, state });
      return read;
    };
    if (size > MAX_SCENE_BYTES)
      throw keep({
        error: new CodedError("SCENE_INVALID", {
          field: "scene",
          value: `${size} bytes`,
          limit: `at most ${MAX_SCENE_BYTES} bytes`,
        }),
      }).error;
    try {
      return keep({ scene: sceneOf(text), text, fileHash: createHash("sha256").update(text).digest("hex") });
    } catch (error) {
      throw keep({
        error: new CodedError(
          "SCENE_INVALID",
          { field: "scene", value: id },
          `Scene ${id}: ${(error as Error).message}`,
        ),
      }).error;
    }
  }

  /** Reads a stored scene. Stored scenes never change, so the text of a built template is reused. */
  async #readStored(id: string): Promise<ReadScene> {
    const text = this.#built.get(id)?.text ?? (await this.#options.stored.sceneText(id));
    if (text === null) throw new CodedError("SCENE_NOT_FOUND", { field: "scene", value: id });
    return { scene: sceneOf(text), text, fileHash: id };
  }

  #hasReport(): boolean {
    return existsSync(join(this.#options.reportDir, "index.html"));
  }

  #path(id: string): string {
    return join(this.#options.scenesDir, `${id}.json`);
  }

  #summary(id: string, { scene, text }: ReadScene, pictures: ReadonlySet<string>, reported: boolean): SceneSummary {
    const paintable = this.#built.get(id)?.text === text;
    const picture = PICTURES.find((type) => pictures.has(`${id}.${type}`));
    const dark = PICTURES.find((type) => pictures.has(`${id}.dark.${type}`));
    return {
      id,
      title: scene.title,
      description: scene.description ?? "",
      ...(scene.try !== undefined && { try: scene.try }),
      ...(scene.notice !== undefined && { notice: scene.notice }),
      ...(scene.texts && { texts: withoutNames(scene.texts) }),
      bodies: scene.bodies.length,
      ...(picture ? { thumbnail: `/thumbnails/${id}.${picture}` } : {}),
      ...(picture && dark ? { darkThumbnail: `/thumbnails/${id}.dark.${dark}` } : {}),
      ...(!picture && paintable ? { picture: `/api/scenes/${id}/picture` } : {}),
      kinds: [...new Set(scene.bodies.map(({ kind }) => kind))].sort(),
      lesson: scene.report !== undefined,
      ...(scene.report !== undefined && reported ? { report: `/report#${scene.report}` } : {}),
    };
  }

  async #build(id: string, text: string, by?: string): Promise<SceneTemplate> {
    const { pools, metrics, log, stored } = this.#options;
    const progress = new BuildProgress();
    this.#progress.set(id, progress);
    try {
      const shapes = await stored.shapes(JSON.parse(text) as Scene);
      const task = { scenePath: this.#path(id), shapes, progress: progress.shared };
      const built = await pools.build(STORED_SCENE.test(id) ? { ...task, text } : task, by);
      metrics.buildSeconds.observe(built.seconds);
      log.info(
        { scene: id, seconds: built.seconds, topology: built.topologyHash, particles: built.layout.streamedParticles },
        "scene built",
      );
      this.#publishTopology(built.topologyHash, built.topology);
      const { template: memory, seconds: _, ...rest } = built;
      return { scene: id, text, shapes, memory, ...rest, budget: new SceneBudget(id, built.layout.tickHz, log) };
    } catch (error) {
      log.error({ scene: id, err: error }, "scene could not be built");
      const reason = error instanceof Error ? error.message : String(error);
      const details = { field: "scene", value: id, ...refusalOf(error) };
      throw new CodedError("BUILD_FAILED", details, `Scene ${id} could not be built: ${reason}`);
    } finally {
      this.#progress.delete(id);
    }
  }

  #publishTopology(hash: string, topology: SharedArrayBuffer): void {
    if (this.#topologies.has(hash)) return;
    const document: TopologyDocument = { raw: Buffer.from(topology), gzip: null, brotli: null };
    this.#topologies.set(hash, document);
    const onCompressed = (form: "gzip" | "brotli") => (bytes: Buffer) => {
      document[form] = bytes;
    };
    // zlib's own threads do this. Quality 11 saves a twelfth of the bytes, but takes ten times as long: it comes last.
    const brotli = (quality: number): Promise<void> =>
      promisify(brotliCompress)(document.raw, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }).then(
        onCompressed("brotli"),
      );
    this.compressed = Promise.all([
      this.compressed,
      promisify(gzip)(document.raw).then(onCompressed("gzip")),
      brotli(5).then(() => brotli(11)),
    ]).catch(() => {});
  }
}

/** Returns the reason if the builder refused the chosen options of an object. */
function refusalOf(error: unknown): { reason?: string } {
  const cause = error instanceof Error ? error.cause : undefined;
  return (REFUSALS as readonly unknown[]).includes(cause) ? { reason: cause as string } : {};
}

/** Lists of scenes do not name bodies. */
const withoutNames = (texts: NonNullable<Scene["texts"]>): NonNullable<Scene["texts"]> =>
  Object.fromEntries(Object.entries(texts).map(([language, { names: _, ...shown }]) => [language, shown]));
