/** Lists all commands, in the order of the help. Each is loaded only when it is run or described. */
import type { CommandEntry } from "./command.ts";

export const commands: readonly CommandEntry[] = [
  { name: "serve", load: async () => (await import("./commands/serve.ts")).serveCommand },
  { name: "login", load: async () => (await import("./commands/login.ts")).loginCommand },
  { name: "logout", load: async () => (await import("./commands/logout.ts")).logoutCommand },
  { name: "whoami", load: async () => (await import("./commands/whoami.ts")).whoamiCommand },
  { name: "console", load: async () => (await import("./commands/console.ts")).consoleCommand },
  { name: "chat", load: async () => (await import("./commands/chat.ts")).chatCommand },
  { name: "speak", load: async () => (await import("./commands/speak.ts")).speakCommand },
  { name: "voices", load: async () => (await import("./commands/voices.ts")).voicesCommand },
  { name: "transcribe", load: async () => (await import("./commands/transcribe.ts")).transcribeCommand },
  { name: "models", load: async () => (await import("./commands/models.ts")).modelsCommand },
  { name: "logs", load: async () => (await import("./commands/logs.ts")).logsCommand },
  { name: "metrics", load: async () => (await import("./commands/metrics.ts")).metricsCommand },
  { name: "traces", load: async () => (await import("./commands/traces.ts")).tracesCommand },
  { name: "demo", load: async () => (await import("./commands/demo.ts")).demoCommand },
  { name: "export", load: async () => (await import("./commands/export.ts")).exportCommand },
  { name: "import", load: async () => (await import("./commands/import.ts")).importCommand },
  { name: "config", load: async () => (await import("./commands/config.ts")).configCommand },
  { name: "org", load: async () => (await import("./commands/org.ts")).orgCommand },
  { name: "project", load: async () => (await import("./commands/project.ts")).projectCommand },
  { name: "key", load: async () => (await import("./commands/key.ts")).keyCommand },
  { name: "doctor", load: async () => (await import("./commands/doctor.ts")).doctorCommand },
  { name: "completion", load: async () => (await import("./commands/completion.ts")).completionCommand },
];
