/** Log records of eight services over a day, the same for the same number of records and end of the day. */
import { ResourceRecords, type LogRecord } from "./otlp-logs.ts";

/** Text of one in 250 000 records, all of `needleService`. */
export const needle = "certificate chain rejected by issuer";
export const needleService = "checkout";
const needleEvery = 250_000;

const mostInRequest = 10_000;
/** Loki refuses records that are an hour older than others, and requests can overtake each other. */
const fewestRequests = 1000;
const dayNanos = 86_400_000_000_000n;

/** The form of a service's lines, its share of the records in percent, and whether they belong to traces. */
const services = [
  { name: "gateway", form: "plain", share: 28, isTraced: false },
  { name: "checkout", form: "json", share: 22, isTraced: true },
  { name: "payments", form: "json", share: 12, isTraced: true },
  { name: "inventory", form: "logfmt", share: 12, isTraced: false },
  { name: "auth", form: "logfmt", share: 10, isTraced: false },
  { name: "search", form: "json", share: 8, isTraced: true },
  { name: "worker", form: "plain", share: 5, isTraced: false },
  { name: "mailer", form: "logfmt", share: 3, isTraced: false },
] as const;
export const podsPerService = 3;
export const serviceCount = services.length;

type Service = (typeof services)[number];

const levels = [
  { number: 5, text: "DEBUG", share: 12 },
  { number: 9, text: "INFO", share: 74 },
  { number: 13, text: "WARN", share: 9 },
  { number: 17, text: "ERROR", share: 5 },
] as const;

const routes = ["/api/cart", "/api/orders", "/api/items", "/api/users", "/api/prices", "/api/search", "/healthz"];
const methods = ["GET", "GET", "GET", "POST", "PUT", "DELETE"];
const actions = [
  "order placed",
  "cart updated",
  "price calculated",
  "stock reserved",
  "session opened",
  "cache refreshed",
];
const problems = [
  "upstream timeout",
  "connection reset by peer",
  "rate limit exceeded",
  "stale cache entry",
  "retry scheduled",
];
const statuses = [200, 200, 200, 200, 201, 204, 304, 400, 404, 500, 503];

/** Numbers below 2³², by Marsaglia's xorshift; the same sequence in every run. */
class Random {
  #state = 2_463_534_242;

  next(): number {
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state;
    return state >>> 0;
  }

  below(limit: number): number {
    return this.next() % limit;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!;
  }

  /** Eight digits for each word. */
  hexadecimal(words: number): string {
    let text = "";
    for (let word = 0; word < words; word += 1) text += this.next().toString(16).padStart(8, "0");
    return text;
  }
}

/** Items, each as often as its share. */
function byShare<Item extends { readonly share: number }>(items: readonly Item[]): readonly Item[] {
  return items.flatMap((item) => Array.from({ length: item.share }, () => item));
}

const everyService = byShare(services);
const everyLevel = byShare(levels);

interface Line {
  readonly level: (typeof levels)[number];
  readonly route: string;
  readonly status: number;
  readonly message: string;
}

function write({ form }: Service, { level, message, route, status }: Line, random: Random): string {
  const duration = random.below(3000);
  const user = random.below(50_000);
  switch (form) {
    case "json":
      return `{"level":"${level.text.toLowerCase()}","msg":"${message}","method":"${random.pick(methods)}","path":"${route}/${random.below(9000)}","status":${status},"duration_ms":${duration},"user":{"id":${user},"tier":"${user % 5 === 0 ? "gold" : "basic"}"},"request_id":"${random.hexadecimal(2)}"}`;
    case "logfmt":
      return `level=${level.text.toLowerCase()} msg="${message}" method=${random.pick(methods)} path=${route}/${random.below(9000)} status=${status} duration=${duration}ms user=${user} bytes=${random.below(100_000)}`;
    case "plain":
      return `10.${random.below(4)}.${random.below(200)}.${random.below(250)} - user-${user} "${random.pick(methods)} ${route}/${random.below(9000)} HTTP/1.1" ${status} ${random.below(100_000)} ${duration}ms ${message}`;
  }
}

function recordAt(index: number, service: Service, random: Random): Omit<LogRecord, "unixNano"> {
  const level = random.pick(everyLevel);
  const isProblem = level.number > 9;
  const route = random.pick(routes);
  const status = random.pick(statuses);
  const usual = random.pick(isProblem ? problems : actions);
  const message = isNeedle(index) ? `${needle} ${index}` : `${usual} after ${random.below(40)} steps`;
  return {
    severityNumber: level.number,
    severityText: level.text,
    line: write(service, { level, message, route, status }, random),
    attributes: [
      ["http.route", route],
      ["http.response.status_code", String(status)],
    ],
    ids: service.isTraced ? random.hexadecimal(6) : undefined,
  };
}

function isNeedle(index: number): boolean {
  return index % needleEvery === Math.floor(needleEvery / 2);
}

export interface RecordsRequest {
  readonly bytes: Buffer;
  readonly recordCount: number;
}

export interface RecordsOptions {
  readonly count: number;
  /** The records are of the day before. */
  readonly endUnixNano: bigint;
}

/** OTLP requests in order of time. */
export function* requestsOf({ count, endUnixNano }: RecordsOptions): Generator<RecordsRequest> {
  const random = new Random();
  const startUnixNano = endUnixNano - dayNanos;
  const stepNanos = dayNanos / BigInt(count);
  const recordsPerRequest = Math.max(1, Math.min(mostInRequest, Math.floor(count / fewestRequests)));
  const resources = new Map(services.map((service) => [service.name, podsOf(service)]));
  for (let first = 0; first < count; first += recordsPerRequest) {
    const recordCount = Math.min(recordsPerRequest, count - first);
    for (let index = first; index < first + recordCount; index += 1) {
      const picked = random.pick(everyService);
      const service = isNeedle(index) ? services.find(({ name }) => name === needleService)! : picked;
      const pod = resources.get(service.name)![random.below(podsPerService)]!;
      pod.add({ ...recordAt(index, service, random), unixNano: startUnixNano + BigInt(index) * stepNanos });
    }
    const bytes = Buffer.concat([...resources.values()].flat().map((resource) => resource.take()));
    yield { bytes, recordCount };
  }
}

function podsOf({ name }: Service): ResourceRecords[] {
  return Array.from(
    { length: podsPerService },
    (_, pod) =>
      new ResourceRecords({
        "service.name": name,
        "service.namespace": "shop",
        "deployment.environment": "production",
        "k8s.namespace.name": "shop",
        "k8s.pod.name": `${name}-${pod}`,
        "host.name": `node-${pod}`,
        "service.version": "3.1.4",
        "telemetry.sdk.language": "nodejs",
      }),
  );
}
