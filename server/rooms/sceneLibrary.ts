/**
 * The scenes of the scenes folder and their templates. A template is built once per content of its scene file and kept;
 * opening a room only copies it. The folder is looked through when scenes are listed, at most once in LISTED_MS for all
 * callers together, so a scene dropped into it is there without a restart.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual, promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyBaseLogger } from "fastify";
import { CodedError } from "../../shared/errors.ts";
import { REFUSALS } from "../../shared/objectCodes.ts";
import type { Scene } from "../../shared/scene.ts";
import { validateScene } from "../../shared/sceneValidator.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { FoundInObject } from "../sim/body/objectMeshes.ts";
import type { WorldLayout } from "../sim/types.ts";
import type { RoomShape } from "../workers/messages.ts";
import { STORED_SCENE } from "../objects/objects.ts";
import { BuildProgress } from "../workers/buildProgress.ts";
import type { WorkerPools } from "../workers/pool.ts";
import { SceneBudget } from "./sceneBudget.ts";

export interface SceneSummary {
  id: string;
  title: string;
  description: string;
  bodies: number;
  /** Path of a picture, if there is one. */
  thumbnail?: string;
  /** Path of one that is painted, where there is none and the scene is built. */
  picture?: string;
  /** Path of the section of the physics report that measures what the scene shows. */
  report?: string;
}

/** A built scene: everything that its rooms share. */
export interface SceneTemplate {
  scene: string;
  /** The scene's file, as it was built, and the shapes of the objects that it names. */
  text: string;
  shapes: ReadonlyMap<string, Uint8Array>;
  memory: WebAssembly.Memory;
  /** Where in it there is something (workers/memoryCopy.ts). */
  filled: Uint32Array;
  layout: WorldLayout;
  topology: SharedArrayBuffer;
  topologyHash: string;
  /** What can go on from a state of it; see workers/identity.ts. */
  identity: string;
  shape: RoomShape;
  /** What was found in the surfaces of its objects. */
  found: readonly FoundInObject[];
  /** Told of its rooms' ticks. */
  budget: SceneBudget;
}

/** A topology as it goes over HTTP; the compressed forms appear a moment after the build. */
export interface TopologyDocument {
  raw: Buffer;
  gzip: Buffer | null;
  brotli: Buffer | null;
}

export interface SceneLibraryOptions {
  scenesDir: string;
  clientDir: string;
  pools: WorkerPools;
  metrics: Metrics;
  log: FastifyBaseLogger;
  /** Scenes that are stored, and what they name. */
  stored: StoredScenes;
  /** Ids of the scenes that rooms of this process have. */
  inUse: () => Iterable<string>;
}

/** Where scenes of objects are (objects/objects.ts). */
interface StoredScenes {
  sceneText(id: string): Promise<string | null>;
  shapes(scene: Scene): Promise<Map<string, Uint8Array>>;
}

/** A scene's file, read and checked. */
interface ReadScene {
  scene: Scene;
  text: string;
  /** SHA-256 of the text. */
  fileHash: string;
}

/** The list of the folder, as it goes over HTTP; the same object while nothing in it changes. */
export interface SceneListing {
  scenes: readonly SceneSummary[];
  /** Those that were left out, by id, each with what is wrong with its file. */
  broken: readonly { id: string; error: string }[];
}

/** A list is as good as new for so long, ms: many callers cost the file system as much as one. */
const LISTED_MS = 1000;
/** Younger changes of a file are not trusted to be the last ones, ms. */
const FRESH_MS = 100;
const SCENE_ID = /^[a-z0-9][a-z0-9-]{0,39}$/;
/** Longest scene file that is read, bytes: meshes live in files of their own. The same as in sim/readScene.ts. */
const MAX_SCENE_BYTES = 4 * 1024 * 1024;
/** Stored scenes that stay built although no room here has them: some are of rooms that other processes have. */
const MOST_UNUSED = 8;
const PICTURES = ["webp", "png", "jpg", "svg"];

export class SceneLibrary {
  readonly #options: SceneLibraryOptions;
  /** By scene id; the hash tells whether the file is still the one that was built. */
  readonly #templates = new Map<string, { fileHash: string; template: Promise<SceneTemplate> }>();
  /** What files were when they were read last: by their state on the disk, nothing is read or checked twice. */
  readonly #read = new Map<string, (ReadScene | { error: CodedError }) & { state: string }>();
  readonly #leftOut = new Map<string, string>();
  /** Templates that are there, by scene id. */
  readonly #built = new Map<string, SceneTemplate>();
  #listing: Promise<SceneListing> | null = null;
  #listed: SceneListing = { scenes: [], broken: [] };
  /** When the list was made last, ms on performance.now(). */
  #listedMs = -Infinity;
  readonly #topologies = new Map<string, TopologyDocument>();
  /** Of the builds that are under way, by scene id. */
  readonly #progress = new Map<string, BuildProgress>();

  constructor(options: SceneLibraryOptions) {
    this.#options = options;
  }

  /** All scenes that can be read, by id. One that cannot is logged and left out. */
  async list(): Promise<SceneListing> {
    if (this.#listing) return this.#listing;
    if (performance.now() - this.#listedMs < LISTED_MS) return this.#listed;
    const listing = this.#list().finally(() => (this.#listing = null));
    listing.catch(() => (this.#listedMs = -Infinity));
    return (this.#listing = listing);
  }

  async #list(): Promise<SceneListing> {
    const { scenesDir, log } = this.#options;
    // Before the folder is read: what is built meanwhile is in the next list.
    this.#listedMs = performance.now();
    const pictures = new Set(await readdir(join(this.#options.clientDir, "thumbnails")).catch(() => []));
    const files = (await readdir(scenesDir)).filter((file) => file.endsWith(".json") && file !== "schema.json").sort();
    const scenes: SceneSummary[] = [];
    for (const file of this.#leftOut.keys()) if (!files.includes(file)) this.#leftOut.delete(file);
    for (const file of files) {
      try {
        const id = file.slice(0, -".json".length);
        scenes.push(this.#summary(id, await this.read(id), pictures));
        this.#leftOut.delete(file);
      } catch (error) {
        // Once for each state of the file: whoever lists scenes must not write the log.
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
    const pictures = PICTURES.map((type) => `${id}.${type}`).filter((file) =>
      existsSync(join(this.#options.clientDir, "thumbnails", file)),
    );
    return { ...this.#summary(id, read, new Set(pictures)), scene: read.scene };
  }

  /**
   * The scene's template, built if this content has not been built yet.
   * @param by for whom (workers/builder.ts)
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
        // It can be painted now.
        this.#listedMs = -Infinity;
        if (STORED_SCENE.test(id)) this.#forgetUnused();
      },
      () => {
        if (this.#templates.get(id)?.template === template) this.#templates.delete(id);
      },
    );
    return template;
  }

  /** The scene's template, if its file is the one that was built. @throws CodedError SCENE_NOT_FOUND, SCENE_INVALID */
  async built(id: string): Promise<SceneTemplate | undefined> {
    const { text } = await this.read(id);
    const built = this.#built.get(id);
    return built?.text === text ? built : undefined;
  }

  /**
   * Builds those of the scenes that this process has not built yet: a room of one of them is stepped elsewhere, and its
   * visitors ask here. Never rejects.
   */
  async buildMissing(scenes: Iterable<string>): Promise<void> {
    // It is in the log; whoever wanted it gets a 404.
    for (const scene of new Set(scenes)) if (!this.#templates.has(scene)) await this.template(scene).catch(() => {});
  }

  /** Files are as many as there are; of stored scenes only some stay built that no room has, the newest. */
  #forgetUnused(): void {
    const used = new Set(this.#options.inUse());
    const unused = [...this.#built.keys()].filter((id) => STORED_SCENE.test(id) && !used.has(id));
    for (const id of unused.slice(0, -MOST_UNUSED)) {
      const { topologyHash } = this.#built.get(id)!;
      this.#templates.delete(id);
      this.#built.delete(id);
      if (![...this.#built.values()].some((other) => other.topologyHash === topologyHash))
        this.#topologies.delete(topologyHash);
    }
  }

  /** How far the scene's build is; undefined: nobody builds it just now. */
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
      text = size <= MAX_SCENE_BYTES ? await readFile(this.#path(id), "utf8") : "";
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
      return keep({
        scene: validateScene(JSON.parse(text)),
        text,
        fileHash: createHash("sha256").update(text).digest("hex"),
      });
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

  /** What is stored never changes: it is read once for as long as somebody has it built. */
  async #readStored(id: string): Promise<ReadScene> {
    const text = this.#built.get(id)?.text ?? (await this.#options.stored.sceneText(id));
    if (text === null) throw new CodedError("SCENE_NOT_FOUND", { field: "scene", value: id });
    return { scene: validateScene(JSON.parse(text)), text, fileHash: id };
  }

  #path(id: string): string {
    return join(this.#options.scenesDir, `${id}.json`);
  }

  #summary(id: string, { scene, text }: ReadScene, pictures: ReadonlySet<string>): SceneSummary {
    const paintable = this.#built.get(id)?.text === text;
    const picture = PICTURES.find((type) => pictures.has(`${id}.${type}`));
    return {
      id,
      title: scene.title,
      description: scene.description ?? "",
      bodies: scene.bodies.length,
      ...(picture ? { thumbnail: `/thumbnails/${id}.${picture}` } : {}),
      ...(!picture && paintable ? { picture: `/api/scenes/${id}/picture` } : {}),
      ...(scene.report !== undefined ? { report: `/report#${scene.report}` } : {}),
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
    // zlib's own threads do this; quality 5 takes a tenth of the time of the default 11 and costs a few percent of
    // size.
    promisify(gzip)(document.raw).then(onCompressed("gzip"), () => {});
    promisify(brotliCompress)(document.raw, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }).then(
      onCompressed("brotli"),
      () => {},
    );
  }
}

/** Where an object of it cannot be what was chosen. */
function refusalOf(error: unknown): { reason?: string } {
  const cause = error instanceof Error ? error.cause : undefined;
  return (REFUSALS as readonly unknown[]).includes(cause) ? { reason: cause as string } : {};
}
