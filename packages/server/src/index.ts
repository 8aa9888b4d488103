/** The package's exports, for the CLI and for programs that embed the server. */
export { loadConfig, type LoadedConfig } from "./config/load-config.ts";
export { formatProblem } from "./config/problem.ts";
export type { SettingOrigin } from "./config/resolution.ts";
export { serve, InvalidConfigError, type ServeOptions } from "./main.ts";
export type { App, Overview } from "./running-app.ts";
export { openAdministration } from "./tenancy/administration.ts";
export { embeddedStoreIsInstalled } from "./store/embedded/is-installed.ts";
export { listEnginePackages, type EnginePackage } from "./routing/engine-packages.ts";
export { findInstallation as findPocketSphinx } from "./engines/pocketsphinx/installation.ts";
export type { Config } from "./config/config.ts";
export { removeModel } from "./model-files/remove-model.ts";
export { listStoredModels, type StoredModel } from "./model-files/stored-models.ts";
export { catalogModels, type CatalogModel } from "./model-files/model-catalog.ts";
export { parseModelSource } from "./model-files/model-source.ts";
export type { PlannedModel } from "./model-files/plan-models.ts";
export { planOf } from "./routing/model-folder.ts";
export { pullModel } from "./model-files/pull-model.ts";
export type { PulledFile } from "./model-files/pull-options.ts";
