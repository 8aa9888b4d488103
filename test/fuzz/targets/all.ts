/** All targets, in the order in which they run. */
import type { AnyTarget } from "../target.ts";
import { alertRulesTarget } from "./alert-rules.ts";
import { audioTarget, uploadsTarget } from "./audio.ts";
import { configTarget } from "./config.ts";
import { http2FramesTarget, webSocketTarget } from "./frames.ts";
import { logqlEngineTarget, logqlParserTarget, lokiTarget } from "./logql.ts";
import { multipartDecoderTarget, multipartTarget } from "./multipart.ts";
import { operationsTarget } from "./operations.ts";
import { otlpDecoderTarget, otlpGrpcTarget, otlpHttpTarget } from "./otlp.ts";
import { prometheusTarget, promqlParserTarget } from "./promql.ts";
import { lokiPushTarget, remoteWriteTarget } from "./push.ts";
import { rawHttpTarget } from "./raw-http.ts";
import { requestBodiesTarget } from "./request-bodies.ts";
import { chatSchemasTarget, schemaGrammarTarget } from "./schemas.ts";
import { tempoTarget, traceqlEngineTarget, traceqlParserTarget } from "./traceql.ts";

export const targets: readonly AnyTarget[] = [
  operationsTarget,
  otlpHttpTarget,
  otlpGrpcTarget,
  uploadsTarget,
  prometheusTarget,
  lokiTarget,
  tempoTarget,
  lokiPushTarget,
  remoteWriteTarget,
  chatSchemasTarget,
  multipartTarget,
  rawHttpTarget,
  http2FramesTarget,
  webSocketTarget,
  audioTarget,
  otlpDecoderTarget,
  promqlParserTarget,
  logqlParserTarget,
  logqlEngineTarget,
  traceqlParserTarget,
  traceqlEngineTarget,
  alertRulesTarget,
  requestBodiesTarget,
  schemaGrammarTarget,
  multipartDecoderTarget,
  configTarget,
];
