/** Limits the routes of a server to its role: the others respond with an error that names the role they need. */
import { AppError } from "../errors.ts";
import { roleFor, type ServerRole, takes } from "../server-role.ts";
import type { Route } from "./route.ts";

export function routesOfRole(role: ServerRole, routes: readonly Route[]): readonly Route[] {
  return routes.map((route) => (takes(role, route.operation.permission) ? route : refusing(route, role)));
}

function refusing({ operation, writeError, errorsUnder }: Route, role: ServerRole): Route {
  const { answer, id, method, path, summary, tag } = operation;
  return {
    // Without a key and a body: the balancer in front of the servers is wrong, not the caller.
    operation: { answer, id, method, path, summary, tag, permission: "none" },
    serve: () => {
      throw notOfRole(role, operation.permission, `${method} ${path}`);
    },
    ...(writeError === undefined ? {} : { writeError }),
    ...(errorsUnder === undefined ? {} : { errorsUnder }),
  };
}

/** The error of a request that servers with another role take. */
export function notOfRole(role: ServerRole, permission: string, what: string): AppError {
  return new AppError(
    "not_found",
    `This server has the role ${role} and does not take ${what}; servers with the role ${roleFor(permission)} or all do (server.role).`,
  );
}
