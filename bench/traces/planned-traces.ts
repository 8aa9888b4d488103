/** Plans traces of a shop with an assistant: requests through several services, with errors, slow spans and attributes. */

export interface PlannedSpan {
  readonly service: string;
  readonly pod: number;
  readonly name: string;
  /** OTLP SpanKind. */
  readonly kind: number;
  /** The index of its parent in the trace; -1 for the root. */
  readonly parent: number;
  readonly offsetMicros: number;
  readonly durationMicros: number;
  readonly hasFailed: boolean;
  readonly attributes: readonly PlannedAttribute[];
}

export type PlannedAttribute = readonly [name: string, value: string | number];

/** Stands for the user, who differs from trace to trace. */
export const userMark = "\u0001\u0002@U";

interface Operation {
  readonly service: string;
  readonly name: string;
  readonly kind: number;
  readonly calls: readonly Operation[];
  readonly attributes: (random: () => number) => readonly PlannedAttribute[];
}

const server = 2;
const client = 3;

function oneOf<T>(values: readonly T[], random: () => number): T {
  return values[Math.floor(random() * values.length)]!;
}

function query(service: string, statement: string): Operation {
  const name = statement.split(" ").slice(0, 2).join(" ");
  const attributes = (random: () => number): PlannedAttribute[] => [
    ["db.system.name", "postgresql"],
    ["db.query.text", `${statement} WHERE id = $1`],
    ["db.response.returned_rows", Math.floor(random() * 40)],
    ["server.address", `${service}-db`],
  ];
  return { service, name, kind: client, calls: [], attributes };
}

function endpoint(service: string, method: string, route: string, calls: readonly Operation[]): Operation {
  const attributes = (random: () => number): PlannedAttribute[] => [
    ["http.request.method", method],
    ["http.route", route],
    ["http.response.status_code", random() < 0.02 ? 500 : random() < 0.05 ? 404 : 200],
    ["url.path", route.replace("{id}", String(Math.floor(random() * 500)))],
    ["user.id", userMark],
    ["thread.id", Math.floor(random() * 64)],
  ];
  return { service, name: `${method} ${route}`, kind: server, calls, attributes };
}

function modelCall(operation: string, model: string): Operation {
  const attributes = (random: () => number): PlannedAttribute[] => [
    ["gen_ai.operation.name", operation],
    ["gen_ai.provider.name", "openai"],
    ["gen_ai.request.model", model],
    ["gen_ai.usage.input_tokens", Math.floor(random() * 4000)],
    ["gen_ai.usage.output_tokens", Math.floor(random() * 800)],
    ["server.address", "api.example.com"],
  ];
  return { service: "assistant", name: `${operation} ${model}`, kind: client, calls: [], attributes };
}

const ledger = query("payment", "SELECT ledger FROM accounts");
const payment = endpoint("payment", "POST", "/pay", [ledger, query("payment", "INSERT payments INTO payments")]);
const stock = endpoint("inventory", "GET", "/stock/{id}", [query("inventory", "SELECT stock FROM items")]);
const cart = endpoint("cart", "GET", "/cart/{id}", [query("cart", "SELECT carts FROM carts"), stock]);
const checkout = endpoint("checkout", "POST", "/checkout", [
  cart,
  payment,
  query("checkout", "SELECT orders FROM orders"),
  query("checkout", "INSERT orders INTO orders"),
]);
const search = endpoint("search", "GET", "/search", [query("search", "SELECT documents FROM documents"), stock]);
const assistant = endpoint("assistant", "POST", "/ask", [
  modelCall("chat", "gpt-4o"),
  modelCall("embeddings", "text-embedding-3"),
  modelCall("chat", "llama-3.3-70b"),
  search,
  cart,
]);
const entries = [
  endpoint("gateway", "GET", "/api/cart/{id}", [cart]),
  endpoint("gateway", "POST", "/api/checkout", [checkout]),
  endpoint("gateway", "GET", "/api/search", [search]),
  endpoint("gateway", "POST", "/api/assistant", [assistant]),
];

/** A failed payment above a slow query of the ledger: in rare traces only. */
export const rareStructure = {
  upper: '{ resource.service.name = "payment" && status = error }',
  lower: '{ name = "SELECT ledger" && duration > 1s }',
} as const;

export interface TraceOptions {
  readonly random: () => number;
  readonly isRare: boolean;
  /** How many spans one below the other it has in addition. */
  readonly depth: number;
}

/** Parents come before their children. */
export function planTrace({ depth, isRare, random }: TraceOptions): readonly PlannedSpan[] {
  const spans: PlannedSpan[] = [];
  const add = (operation: Operation, parent: number, offsetMicros: number): void => {
    const above = spans[parent];
    const isLedger = operation === ledger;
    const isSlow = isLedger ? isRare || (above?.hasFailed === false && random() < 0.01) : random() < 0.01;
    const hasFailed = (isRare && operation === payment) || random() < 0.01;
    const index = spans.length;
    spans.push({
      service: operation.service,
      pod: above?.service === operation.service ? above.pod : Math.floor(random() * 3),
      name: operation.name,
      kind: operation.kind,
      parent,
      offsetMicros,
      durationMicros: Math.floor(isSlow ? 1_000_000 + random() * 3e6 : 500 + random() ** 3 * 900_000),
      hasFailed,
      attributes: operation.attributes(random),
    });
    let next = offsetMicros + 100;
    for (const call of operation.calls) {
      if (!isRare && random() < 0.2) continue;
      next += Math.floor(random() * 20_000);
      add(call, index, next);
    }
  };
  add(isRare ? entries[1]! : oneOf(entries, random), -1, 0);
  for (let level = 0, parent = 0; level < depth; level++) {
    add({ ...modelCall("execute_tool", `tool-${level % 5}`), kind: 1 }, parent, 1000 * (level + 1));
    parent = spans.length - 1;
  }
  return spans;
}
