/** The views: where they are, who sees them, and the scripts that show them. */
import type { ComponentType } from "preact";
import type { IconName } from "../design/icons.tsx";
import type { Session } from "../state/session.ts";

export interface View {
  /** The first segment of its addresses. */
  readonly id: string;
  readonly title: string;
  readonly icon: IconName;
  /** The letter that opens it after `g`. */
  readonly letter: string;
  /** Whether the signed-in caller may use it. */
  readonly isAllowed: (session: Session) => boolean;
  /** The message for callers without the permission. */
  readonly requirement: string;
  readonly load: () => Promise<ComponentType>;
}

const readsTelemetry = ({ permissions }: Session): boolean => permissions.includes("telemetry_read");
const callsModels = ({ permissions }: Session): boolean => permissions.includes("inference");
const everyone = (): boolean => true;

const telemetry = { isAllowed: readsTelemetry, requirement: 'the permission "telemetry_read"' };
const inference = { isAllowed: callsModels, requirement: 'the permission "inference"' };

export const views: readonly View[] = [
  {
    id: "overview",
    title: "Overview",
    icon: "overview",
    letter: "o",
    ...telemetry,
    load: async () => (await import("../views/overview/overview-view.tsx")).OverviewView,
  },
  {
    id: "traces",
    title: "Traces",
    icon: "traces",
    letter: "t",
    ...telemetry,
    load: async () => (await import("../views/traces/traces-view.tsx")).TracesView,
  },
  {
    id: "conversations",
    title: "Conversations",
    icon: "conversations",
    letter: "c",
    ...telemetry,
    load: async () => (await import("../views/conversations/conversations-view.tsx")).ConversationsView,
  },
  {
    id: "logs",
    title: "Logs",
    icon: "logs",
    letter: "l",
    ...telemetry,
    load: async () => (await import("../views/logs/logs-view.tsx")).LogsView,
  },
  {
    id: "metrics",
    title: "Metrics",
    icon: "metrics",
    letter: "m",
    ...telemetry,
    load: async () => (await import("../views/metrics/metrics-view.tsx")).MetricsView,
  },
  {
    id: "spend",
    title: "Spend",
    icon: "spend",
    letter: "e",
    isAllowed: ({ permissions }) => permissions.includes("spend_read") || permissions.includes("telemetry_read"),
    requirement: 'the permission "spend_read"',
    load: async () => (await import("../views/spend/spend-view.tsx")).SpendView,
  },
  {
    id: "playground",
    title: "Playground",
    icon: "playground",
    letter: "p",
    ...inference,
    load: async () => (await import("../views/playground/playground-view.tsx")).PlaygroundView,
  },
  {
    id: "models",
    title: "Models",
    icon: "models",
    letter: "d",
    isAllowed: ({ permissions, operator }) => operator || permissions.includes("models_read"),
    requirement: 'the permission "models_read"',
    load: async () => (await import("../views/models/models-view.tsx")).ModelsView,
  },
  {
    id: "administration",
    title: "Administration",
    icon: "administration",
    letter: "a",
    isAllowed: ({ permissions }) => permissions.includes("configuration_read"),
    requirement: 'the permission "configuration_read"',
    load: async () => (await import("../views/administration/administration-view.tsx")).AdministrationView,
  },
  {
    id: "preferences",
    title: "Preferences",
    icon: "preferences",
    letter: "s",
    isAllowed: everyone,
    requirement: "",
    load: async () => (await import("../views/preferences/preferences-view.tsx")).PreferencesView,
  },
];

/** The view that opens when the address names none. */
export function firstView(session: Session): View {
  return views.find(({ isAllowed }) => isAllowed(session))!;
}
