/** A child process that obeys each message. */
import { listenToParent, sendToParent } from "../../src/child-process/parent-channel.ts";

export interface Order {
  readonly do: "answer" | "fail" | "nothing" | "crash" | "exit" | "environment";
}

export interface Report {
  readonly type: "ready" | "failed" | "environment";
  readonly names?: readonly string[];
}

const send: (report: Report) => void = sendToParent;

listenToParent((order: Order) => {
  switch (order.do) {
    case "answer":
      return send({ type: "ready" });
    case "fail":
      return send({ type: "failed" });
    case "environment":
      return send({ type: "environment", names: Object.keys(process.env) });
    case "crash":
      process.stderr.write("the last words\n");
      return process.abort();
    case "exit":
      return process.exit(0);
    case "nothing":
  }
});
