/** The environment of tests: the same for everyone who runs them, whatever is set on their machine. */
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const cache = fileURLToPath(new URL("../../node_modules/.cache/", import.meta.url));

/** Settings of a person or a machine that would change what a server, a client or a program under test does. */
const personal =
  /^(https?_proxy|all_proxy|no_proxy|node_options|node_use_env_proxy|xdg_.*|(otel|openai|anthropic|aws|azure|hf|sounding)_.*|pg[a-z]+|lc_.*|lang|language|tz)$/i;
const ours = /^SOUNDING_TEST_/;

export function testEnvironment(): NodeJS.ProcessEnv {
  const home = `${cache}test-home`;
  mkdirSync(home, { recursive: true });
  const kept = Object.entries(process.env).filter(([name]) => ours.test(name) || !personal.test(name));
  return {
    ...Object.fromEntries(kept),
    HOME: home,
    LANG: "C.UTF-8",
    TZ: "UTC",
    // Every process of every test loads the same modules: compiled once.
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? `${cache}compiled`,
  };
}
