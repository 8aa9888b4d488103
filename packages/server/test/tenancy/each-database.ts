/** Runs a suite on SQLite and, if it is installed, on Postgres; each test opens its own databases. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe } from "node:test";
import { beforeTests } from "../../../../test/support/hooks.ts";
import {
  openControlDatabase,
  type ControlDatabase,
  type ControlDatabaseOptions,
} from "../../src/tenancy/control-database.ts";
import { startPostgres, type PostgresServer } from "./postgres-server.ts";
import { needs } from "../../../../test/support/needs.ts";

export interface Databases {
  /** The location of a new, empty database. */
  location(): Promise<ControlDatabaseOptions>;
  /** A new database without rows, opened; closed after the suite. */
  open(): Promise<ControlDatabase>;
}

/** `define` declares the tests of one kind of database. */
export function onEachDatabase(title: string, define: (databases: Databases) => void): void {
  describe(`${title}, on SQLite`, () => {
    const newUrl = async (): Promise<undefined> => undefined;
    define(databases({ newUrl, newMigratedUrl: newUrl }));
  });
  describe(`${title}, on Postgres`, { skip: needs("postgresql") }, () => {
    let server: PostgresServer;
    let migrated: Promise<string> | undefined;
    const newUrl = (): Promise<string> => server.newDatabase();
    /** The migrations take longer than all else that a test does. */
    const newMigratedUrl = async (): Promise<string> => {
      migrated ??= newUrl().then(async (url) => {
        await (await openControlDatabase({ url, dataDirectory: "" })).close();
        return url;
      });
      return server.newDatabase(await migrated);
    };
    define(databases({ newUrl, newMigratedUrl }));
    // After the tests' own hooks, so that the server is stopped after their connections.
    beforeTests(async (stack) => {
      server = stack.use(await startPostgres());
    });
  });
}

interface NewUrls {
  /** Undefined for SQLite. */
  newUrl(): Promise<string | undefined>;
  newMigratedUrl(): Promise<string | undefined>;
}

function databases({ newUrl, newMigratedUrl }: NewUrls): Databases {
  const opened: ControlDatabase[] = [];
  const directories: string[] = [];
  after(async () => {
    await Promise.all(opened.map((control) => control.close()));
    for (const directory of directories) rmSync(directory, { recursive: true, force: true });
  });
  function newDirectory(): string {
    const directory = mkdtempSync(join(tmpdir(), "sounding-control-"));
    directories.push(directory);
    return directory;
  }
  return {
    location: async () => ({ url: await newUrl(), dataDirectory: newDirectory() }),
    async open() {
      const control = await openControlDatabase({ url: await newMigratedUrl(), dataDirectory: newDirectory() });
      opened.push(control);
      return control;
    },
  };
}

/** The AppError that the work fails with, as code and param. */
export async function failure(work: () => unknown): Promise<{ code: string; param: string | null; message: string }> {
  try {
    await work();
  } catch (error) {
    const { code, param, message } = error as { code: string; param: string | null; message: string };
    return { code, param, message };
  }
  throw new Error("it did not fail");
}
