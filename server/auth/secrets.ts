/** Finds or creates the secret that signs tokens, and compares secrets in constant time. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** File name within the data folder. */
const SECRET_FILE = "token-secret";

/**
 * @param configured PLIANT_TOKEN_SECRET's keys; may be empty
 * @param dataDir where the server stores its rooms, or null without a store
 * @returns the configured keys; else the key in the data folder, created at the first start; else a new one that ends
 * with this process
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
  // Write a complete draft first, then link it. If two processes start at once, one link succeeds and both use its key.
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

/** Compares two secrets. Hashing both first hides length and content from timing. */
export function sameSecret(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/** Fingerprint of a session's token, for places that must not contain the token. */
export const fingerprint = (secret: string): string =>
  createHash("sha256").update("pliant fingerprint\0").update(secret).digest("hex").slice(0, 32);
