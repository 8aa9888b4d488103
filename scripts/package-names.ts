/** The folders of `packages/` that are published, in the order in which they depend on each other. */
export const packageNames = ["promql", "logql", "traceql", "client", "console", "server", "cli"] as const;
export type PackageName = (typeof packageNames)[number];
