/** Where the server stores its data: `storage` of the configuration file. */
import { Type } from "typebox";
import { describeDefaultDataDirectory } from "./data-directory.ts";
import { secret } from "./setting-types.ts";

export const storage = Type.Object(
  {
    data_dir: Type.String({
      minLength: 1,
      describedDefault: describeDefaultDataDirectory,
      env: "SOUNDING_DATA_DIR",
      description:
        "Folder for the server's files. The server creates it. In the configuration file, a relative path starts at the file's folder.",
    }),
    database_url: Type.Optional(
      secret(
        "PostgreSQL database for organizations, projects and keys: `postgres://user:password@host:5432/name`. Absent: SQLite in `data_dir`.",
        { env: "DATABASE_URL", pattern: "^postgres(ql)?://" },
      ),
    ),
    accept_empty_database: Type.Boolean({
      default: false,
      env: "SOUNDING_ACCEPT_EMPTY_DATABASE",
      description:
        "Let the server start with an empty control database although `data_dir` has been in use. It then creates a new organization and new keys. Set this for one start only.",
    }),
    warning_free_bytes: Type.Integer({
      minimum: 0,
      default: 1_073_741_824,
      description: "Free space on the disk of `data_dir` below which `/readyz` reports a warning.",
    }),
    minimum_free_bytes: Type.Integer({
      minimum: 0,
      default: 104_857_600,
      description:
        "Free space on the disk of `data_dir` below which telemetry is refused with 503, which leaves room for the control database to record keys and budgets.",
    }),
    response_retention_days: Type.Integer({
      minimum: 0,
      maximum: 3_650,
      default: 30,
      description:
        "Days for which the control database keeps responses of the Responses API whose request does not set `store` to false. 0: none is kept, so `previous_response_id` cannot be used.",
    }),
    admin_key: Type.Optional(
      secret(
        "An operator key that always exists, for administering a new installation without the key printed at its first start: `sk-` and at least 32 more characters.",
        { env: "SOUNDING_ADMIN_KEY", pattern: "^sk-[A-Za-z0-9_-]{32,}$" },
      ),
    ),
  },
  { default: {}, description: "Where the server stores its data." },
);
