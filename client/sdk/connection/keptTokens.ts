/** Join tokens that outlive a call of `joinRoom`: without them the creator of a room would come back as a player. */

/** Tokens by the address of the room's page, http(s)://host[:port]/r/<room>. */
export interface TokenStorage {
  get(address: string): string | undefined | Promise<string | undefined>;
  /** @param token undefined: forget it */
  set(address: string, token: string | undefined): void | Promise<void>;
}

const memory = new Map<string, string>();
const PREFIX = "pliant:token:";

interface PageStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** The page's storage; undefined: this runtime has none, or its use is blocked. */
function pageStorage(): PageStorage | undefined {
  try {
    const page = globalThis as { document?: unknown; sessionStorage?: PageStorage };
    return page.document === undefined ? undefined : page.sessionStorage;
  } catch {
    return undefined;
  }
}

export const defaultTokens: TokenStorage = {
  get: (address) => pageStorage()?.getItem(PREFIX + address) ?? memory.get(address),
  set: (address, token) => {
    const storage = pageStorage();
    if (token === undefined) {
      memory.delete(address);
      storage?.removeItem(PREFIX + address);
    } else if (storage) storage.setItem(PREFIX + address, token);
    else memory.set(address, token);
  },
};

/** Removals of rooms under way, by address: the next call waits for them. */
const removals = new Map<string, Promise<void>>();

/** The token of one room. */
export class KeptToken {
  readonly #address: string;
  readonly #storage: TokenStorage;

  constructor(address: string, storage: TokenStorage) {
    this.#address = address;
    this.#storage = storage;
  }

  async get(): Promise<string | undefined> {
    return this.#storage.get(this.#address);
  }

  async set(token: string | undefined): Promise<void> {
    await this.#storage.set(this.#address, token);
  }

  /** The removal of this room that is under way. */
  get removed(): Promise<void> | undefined {
    return removals.get(this.#address);
  }

  /** Forgets the token when the room has been closed. @param closing resolves to true: the room is closed */
  remove(closing: Promise<boolean>): void {
    const removal = closing
      .then((closed) => (closed ? this.set(undefined) : undefined))
      .catch(() => {})
      .finally(() => removals.delete(this.#address));
    removals.set(this.#address, removal);
  }
}
