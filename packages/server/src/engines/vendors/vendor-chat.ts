/** Implements `ChatModel` for a vendor's model: validates, translates and calls the vendor once per choice. */
import type { ChatCompletion, ChatUsage } from "../../api/chat-answer.ts";
import type { ChatCall, ChatModel } from "../engine.ts";
import { toCallOptions } from "./call-options.ts";
import { completeChoice, streamChoice, type ChoiceCall } from "./choice.ts";
import { joinCompletions, joinStreams, seedOf } from "./fan-out.ts";
import { refuseUnsupportedParameters, unsupported } from "./parameter-support.ts";
import { beginCall, toCallError, type VendorConnection } from "./vendor-connection.ts";

/** The vendor calls of a request. All refusals happen here, before anything is sent. */
async function plan({ request }: ChatCall, target: Omit<ChoiceCall, "request" | "options">): Promise<ChoiceCall[]> {
  const { connection, model } = target;
  const { vendor, maxChoices } = connection;
  refuseUnsupportedParameters(request, vendor);
  const choices = request.n ?? 1;
  if (choices > maxChoices) {
    throw unsupported(vendor.label, "n", `it is ${choices}; at most ${maxChoices} choices are allowed.`);
  }
  const options = toCallOptions(request, vendor);
  await connection.preflight(request, model);
  return Array.from({ length: choices }, (_, index) => ({
    ...target,
    request,
    options: { ...options, ...seedOf(options, index) },
  }));
}

function unusedOf(call: ChatCall): (usage: ChatUsage) => void {
  return (usage) => call.onUnused?.(usage);
}

/** The chat model of this name at the vendor. */
export function createVendorChat(model: string, connection: VendorConnection): ChatModel {
  return {
    async complete(call) {
      const live = beginCall(call, connection);
      const complete: ChatCompletion[] = [];
      try {
        const calls = await plan(call, { connection, model, live, onUnused: unusedOf(call) });
        return joinCompletions(
          await Promise.all(
            calls.map(async (choice) => {
              const completion = await completeChoice(choice);
              complete.push(completion);
              return completion;
            }),
          ),
        );
      } catch (error) {
        for (const { usage } of complete) if (usage !== undefined) call.onUnused?.(usage);
        throw toCallError(error, live, connection);
      } finally {
        live.close();
      }
    },

    async *stream(call) {
      const live = beginCall(call, connection);
      try {
        const calls = await plan(call, { connection, model, live, onUnused: unusedOf(call) });
        const sources = calls.map(streamChoice);
        for await (const chunk of sources.length === 1 ? sources[0]! : joinStreams(sources, () => live.close())) {
          live.fruitless.reset();
          yield chunk;
        }
      } catch (error) {
        throw toCallError(error, live, connection);
      } finally {
        live.close();
      }
    },
  };
}
