/**
 * `npm run token`: issues a join token without a running server, with the same secret: PLIANT_TOKEN_SECRET, or the one
 * in the data folder. It also creates the first admin. Prints only the token to stdout, and its properties to stderr.
 */
import { parseArgs } from "node:util";
import { ROLES, isRole, type Role } from "../../shared/members/roles.ts";
import { ConfigError, readConfig } from "../config.ts";
import { tokenSecrets } from "../auth/secrets.ts";
import { isSubject, MAX_SUBJECT_LENGTH, MAX_TOKEN_HOURS, TokenMint, type Grant } from "../auth/tokens.ts";

const USAGE = `npm run token -- --room R --role owner --hours 2 [--name N] [--subject S]
  --room R      name of a room, or * for every one (required)
  --role r      ${ROLES.join(", ")} (required); an admin's is for *
  --hours h     lifetime; default 24, at most ${MAX_TOKEN_HOURS}
  --name N      shown for a member that chooses no name
  --subject S   identifies the bearer in bans and the audit log; default: generated
  --help        this text

A room's link with the token is http://host/r/<room>#token=<token>.`;

class UsageError extends Error {}

function readGrant(args: string[]): Grant | null {
  const { values } = parseArgs({
    args,
    options: {
      room: { type: "string" },
      role: { type: "string" },
      hours: { type: "string", default: "24" },
      name: { type: "string" },
      subject: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return null;
  const { room, role, hours, name, subject } = values;
  const refuse = (option: string, value: string | undefined, limit: string): never => {
    throw new UsageError(`--${option}: ${value ?? "missing"}, limit: ${limit}`);
  };
  if (room === undefined || !/^(\*|[a-z0-9][a-z0-9-]{0,39})$/.test(room))
    refuse("room", room, "a room's name (1 to 40 of a-z, 0-9 and -), or *");
  if (!isRole(role)) refuse("role", role, `one of ${ROLES.join(", ")}`);
  if (role === "admin" && room !== "*") refuse("room", room, "* for an admin");
  const lasting = /^\d+(\.\d+)?$/.test(hours) ? Number(hours) : NaN;
  if (!(lasting > 0 && lasting <= MAX_TOKEN_HOURS)) refuse("hours", hours, `more than 0, up to ${MAX_TOKEN_HOURS}`);
  if (subject !== undefined && (!isSubject(subject) || subject.length > MAX_SUBJECT_LENGTH))
    refuse("subject", `${subject.length} characters`, `1 to ${MAX_SUBJECT_LENGTH}, without control characters`);
  return {
    room: room!,
    role: role as Role,
    seconds: 3600 * lasting,
    ...(name !== undefined && { name }),
    ...(subject !== undefined && { subject }),
  };
}

try {
  const grant = readGrant(process.argv.slice(2));
  if (grant === null) process.stdout.write(`${USAGE}\n`);
  else {
    const { tokenSecrets: configured, store, dataDir } = readConfig(process.env);
    if (configured.length === 0 && store === "none")
      throw new UsageError(
        "PLIANT_TOKEN_SECRET: missing, limit: set it or use a data folder (PLIANT_STORE other than none); otherwise no server accepts the token",
      );
    const { token, subject, expiresAt } = await new TokenMint(tokenSecrets(configured, dataDir)).sign(grant);
    process.stdout.write(`${token}\n`);
    process.stderr.write(
      `${grant.role} of ${grant.room === "*" ? "every room" : grant.room}, subject ${subject}, until ${expiresAt.toISOString()}\n`,
    );
  }
} catch (error) {
  const misused =
    error instanceof UsageError ||
    error instanceof ConfigError ||
    (error as NodeJS.ErrnoException).code?.startsWith("ERR_PARSE_ARGS") === true;
  if (!misused) throw error;
  process.stderr.write(`token: ${(error as Error).message}\n${USAGE}\n`);
  process.exitCode = 2;
}
