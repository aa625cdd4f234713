/**
 * The secret that signs tokens, where it comes from; and comparing secrets without telling by the time it takes how far
 * they agree.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Within the data folder. */
const SECRET_FILE = "token-secret";

/**
 * @param configured PLIANT_TOKEN_SECRET's keys; may be empty
 * @param dataDir where the server keeps its rooms, or null where it keeps nothing
 * @returns the configured ones; else the one in the data folder, made at the first start; else one that ends with this
 *   process
 * @throws the error of the file system when the data folder cannot be used
 */
export function tokenSecrets(configured: readonly string[], dataDir: string | null): string[] {
  if (configured.length > 0) return [...configured];
  const fresh = randomBytes(32).toString("base64url");
  if (dataDir === null) return [fresh];
  const path = join(dataDir, SECRET_FILE);
  const known = readSecret(path);
  if (known !== undefined) return [known];
  mkdirSync(dataDir, { recursive: true });
  // Written whole under another name, then linked: of two processes that start at once one wins, and both use the
  // winner's.
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, fresh, { mode: 0o600 });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(draft);
  }
  return [readSecret(path)!];
}

function readSecret(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Equal? Both are hashed first, so neither length nor content shows in the time. */
export function sameSecret(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/** What is kept of a session's token where the token itself has no business to be. */
export const fingerprint = (secret: string): string =>
  createHash("sha256").update("pliant fingerprint\0").update(secret).digest("hex").slice(0, 32);
