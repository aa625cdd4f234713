/** Set up before every file (vitest.config.ts), so it runs after the file's own hooks. */
import { afterAll } from "vitest";
import { removeTestFolders } from "../testFolder.ts";

afterAll(removeTestFolders);
