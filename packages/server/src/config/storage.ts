/** Where the server keeps what it must remember: `storage` of the configuration file. */
import { Type } from "typebox";
import { secret } from "./setting-types.ts";

export const storage = Type.Object(
  {
    data_dir: Type.String({
      minLength: 1,
      default: "./sounding-data",
      env: "SOUNDING_DATA_DIR",
      description: "Folder of the server's own files; created when missing. Relative to the working directory.",
    }),
    database_url: Type.Optional(
      secret(
        "Postgres database of organizations, projects and keys: `postgres://user:password@host:5432/name`. Absent: SQLite in `data_dir`.",
        { env: "DATABASE_URL", pattern: "^postgres(ql)?://" },
      ),
    ),
    accept_empty_database: Type.Boolean({
      default: false,
      env: "SOUNDING_ACCEPT_EMPTY_DATABASE",
      description:
        "Whether the server may start with an empty control database although `data_dir` was in use before. New organizations and keys are created then; set it for one start only.",
    }),
    warning_free_bytes: Type.Integer({
      minimum: 0,
      default: 1_073_741_824,
      description: "`/readyz` reports the disk of `data_dir` when less than this is free.",
    }),
    minimum_free_bytes: Type.Integer({
      minimum: 0,
      default: 104_857_600,
      description:
        "Telemetry is refused with 503 while less than this is free on the disk of `data_dir`, so that the control database keeps room for keys and budgets.",
    }),
    admin_key: Type.Optional(
      secret(
        "An operator's API key that always exists, to administer a new installation without its first printed key: `sk-` and at least 32 more characters.",
        { env: "SOUNDING_ADMIN_KEY", pattern: "^sk-[A-Za-z0-9_-]{32,}$" },
      ),
    ),
  },
  { default: {}, description: "Where the server keeps what it must remember." },
);
