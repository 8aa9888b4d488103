/**
 * Spans of model calls, agents and tools, spread evenly over some days before an end time, written in order of arrival.
 */
import { BlockWriter } from "../../packages/server/src/store/block.ts";
import { spans } from "../../packages/server/src/store/schema.ts";
import type { Store } from "../../packages/server/src/store/store.ts";
import { batchOf, randomNumbers, writeMap } from "./metric-samples.ts";
import { organizationId } from "./queries.ts";

export interface SpansSize {
  readonly spanCount: number;
  readonly days: number;
  readonly endMs: number;
}

const blockRows = 10_000;

export async function writeSpans(store: Store, { days, endMs, spanCount }: SpansSize): Promise<void> {
  const random = randomNumbers(7);
  const lengthMs = days * 86_400_000;
  let writer = new BlockWriter(spans);
  for (let index = 0; index < spanCount; index++) {
    const endedMs = endMs - lengthMs + ((index + 1) * lengthMs) / spanCount;
    writeSpan(writer, { index, endedMs, random });
    if (writer.rowCount < blockRows) continue;
    await store.append(batchOf("spans", writer));
    writer = new BlockWriter(spans);
  }
  await store.append(batchOf("spans", writer));
}

interface SpanSource {
  readonly index: number;
  readonly endedMs: number;
  readonly random: () => number;
}

/** Of ten spans, seven are model calls, one is an agent run, one a tool call, and one speech or transcription. */
function writeSpan(writer: BlockWriter<(typeof spans)["columns"]>, { endedMs, index, random }: SpanSource): void {
  const { columns } = writer;
  const kind = index % 10;
  const operation =
    kind < 7
      ? "chat"
      : kind === 7
        ? "invoke_agent"
        : kind === 8
          ? "execute_tool"
          : index % 20 === 9
            ? "speech"
            : "transcription";
  const durationMs = 50 + 4000 * random() ** 3;
  const model = Math.floor(random() * 12);
  const agent = Math.floor(random() * 20);
  const hasFailed = random() < 0.03;
  columns.organization.text(organizationId);
  columns.project.text(`project-${Math.floor(random() * 4)}`);
  columns.trace_id.text((0x1000_0000 + Math.floor(index / 5)).toString(16).padStart(32, "5"));
  columns.span_id.text((0x1000_0000 + index).toString(16).padStart(16, "7"));
  columns.name.text(`${operation} model-${model}`);
  columns.start_time.bigint(BigInt(Math.round((endedMs - durationMs) * 1000)) * 1000n);
  columns.end_time.bigint(BigInt(Math.round(endedMs * 1000)) * 1000n);
  columns.status_code.unsigned(hasFailed ? 2 : 0);
  columns.service.text(`service-${agent % 3}`);
  columns.operation.text(operation);
  columns.provider.text(["openai", "anthropic", "local"][model % 3]!);
  columns.request_model.text(kind === 8 ? "" : `model-${model}`);
  columns.agent_name.text(`agent-${agent}`);
  columns.agent_class.text(agent % 2 === 0 ? "ToolUseAgent" : "PlanningAgent");
  columns.session_id.text(`session-${Math.floor(index / 40)}`);
  if (kind < 7) {
    columns.input_tokens.unsigned(Math.floor(random() * 4000));
    columns.output_tokens.unsigned(Math.floor(random() * 800));
  }
  if (hasFailed) columns.error_type.text(random() < 0.2 ? "content_filter" : "timeout");
  writeMap(columns.attributes, attributesOf(operation, random));
  columns.days.unsigned(30);
  writer.endRow();
}

function attributesOf(operation: string, random: () => number): Record<string, string> {
  const common = { "server.address": "api.example.com", "server.port": "443" };
  switch (operation) {
    case "chat":
      return { ...common, "gen_ai.response.time_to_first_chunk": (0.05 + random()).toFixed(4) };
    case "execute_tool":
      return { ...common, "gen_ai.tool.name": `tool-${Math.floor(random() * 8)}` };
    case "speech":
      return {
        ...common,
        "sounding.speech.characters": String(Math.floor(random() * 500)),
        "sounding.speech.time_to_first_audio": (0.05 + random() / 4).toFixed(4),
        "gen_ai.request.voice": "slt",
      };
    case "transcription":
      return { ...common, "sounding.audio.duration": (random() * 60).toFixed(2) };
    default:
      return common;
  }
}
