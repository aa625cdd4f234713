/** Folders of tests in the system's folder for temporary files. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folders: string[] = [];

/** Makes a folder, which is removed after the test file (run/removeFolders.ts). @param name beginning of its name */
export function testFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `pliant-${name}-`));
  folders.push(folder);
  return folder;
}

export function removeTestFolders(): void {
  for (const folder of folders.splice(0))
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
