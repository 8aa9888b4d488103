/** Holds the sources to ARCHITECTURE.md. The rules are in the files of architecture/, by subject. */
import "./architecture/module-rules.ts";
import "./architecture/package-rules.ts";
import "./architecture/invariants.ts";
import "./architecture/module-map.ts";
