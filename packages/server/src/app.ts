/** The composition root: creates every part of the server once, and closes them in reverse order. */
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { alertGroupRoutes } from "./alerts/alert-group-routes.ts";
import { createAlerts } from "./alerts/alerts.ts";
import { operations } from "./api/index.ts";
import { toOpenApi } from "./api/openapi.ts";
import { priceRoutes } from "./catalog/price-routes.ts";
import { catalogRoutes } from "./catalog/routes.ts";
import type { ChatParts } from "./chat/admit-chat.ts";
import { chatApiRoutes } from "./chat-api-routes.ts";
import { createAudioRoutes } from "./audio-routes.ts";
import { createWebConsole } from "./console/console-routes.ts";
import { createDeletions } from "./deletions/deletions.ts";
import { createHealthChecks } from "./status/health-checks.ts";
import { createGuardrails } from "./guardrails/guardrails.ts";
import type { FinishedCall } from "./finished-call.ts";
import { isPrivate } from "./http/caller.ts";
import { createClientAddress } from "./http/client-address.ts";
import { createClientLimits } from "./http/client-limits.ts";
import { reachableUrl } from "./http/listen.ts";
import { notOfRole, routesOfRole } from "./http/routes-of-role.ts";
import { startHttpServer } from "./http/server.ts";
import { createRequestAdmission } from "./limits/admit-request.ts";
import { createLimiter } from "./limits/limiter.ts";
import { openSharedLimits } from "./limits/shared/open-shared-limits.ts";
import { MonthlyUsage } from "./limits/monthly-usage.ts";
import { createEngineFactory } from "./routing/engine-factory.ts";
import type { RoutedChat } from "./routing/route-chat.ts";
import { knownEngines } from "./routing/implicit-engines.ts";
import { serveModels } from "./routing/model-folder.ts";
import { openPricing } from "./pricing/pricing.ts";
import { createMetricPresets } from "./query/metrics/presets/metric-presets.ts";
import { createTracePresets } from "./query/traces/trace-presets.ts";
import { ingestRoutes } from "./ingest-routes.ts";
import { queryRoutes } from "./query-routes.ts";
import { openServerAudit } from "./server-audit.ts";
import { serveResponses } from "./responses/serve-responses.ts";
import type { App, AppOptions } from "./running-app.ts";
import { openServerBudgets } from "./server-budgets.ts";
import { overviewOf } from "./server-overview.ts";
import { openServerParts } from "./server-parts.ts";
import { openServerStore, watchDisk } from "./server-store.ts";
import { alertsOf, modelsOf } from "./config/settings-of-role.ts";
import { takes } from "./server-role.ts";
import { createMetrics } from "./status/metrics.ts";
import { statusRoutes } from "./status/routes.ts";
import { createGrpcServer } from "./telemetry/otlp/grpc-server.ts";
import { embeddingRoutes } from "./embeddings/routes.ts";
import { moderationRoutes } from "./moderations/routes.ts";
import { openContentCiphers } from "./encryption/open-content-ciphers.ts";
import { createRedaction } from "./telemetry/redaction/redaction.ts";
import { createOtlp } from "./telemetry/otlp/otlp.ts";
import { createCallTelemetry, noCallTelemetry } from "./telemetry/calls/call-telemetry.ts";
import { providerName } from "./telemetry/calls/provider-name.ts";
import { auditRoutes } from "./tenancy/audit/audit-routes.ts";
import { governanceRoutes } from "./governance/routes.ts";
import { scimRoutes } from "./scim/routes.ts";
import { tenancyRoutes } from "./tenancy/routes.ts";
import { createProjectSettings } from "./tenancy/project-settings.ts";
import { createUsageLedger } from "./tenancy/usage.ts";
import { openSignIn } from "./sign-in/open-sign-in.ts";
import { watchEventLoop } from "./scheduling/event-loop-watch.ts";

/** @throws AppError if a part cannot start; parts that have started are closed */
export async function startApp({ config, logger, version, observeRequest, ...options }: AppOptions): Promise<App> {
  await using starting = new AsyncDisposableStack();
  const closeAtEnd = <T extends { close(): Promise<void> }>(part: T): T => starting.adopt(part, (each) => each.close());

  const { onFirstStart } = options;
  const parts = closeAtEnd(options.parts ?? (await openServerParts({ config, logger, onFirstStart })));
  const { bound, control, sharing } = parts;
  let closing = false;
  const { storage } = config;
  const { role } = config.server;
  const runsJob = takes(role, "telemetry_read");
  const isShared = sharing !== undefined || control.kind === "postgres";
  const dataDirectory = resolve(storage.data_dir);
  const metrics = createMetrics(version);
  const disk = closeAtEnd(await watchDisk(config.storage, metrics));
  const { rows, telemetry: cipher } = await openContentCiphers(config.content_encryption);
  const store = closeAtEnd(await openServerStore({ config, logger, metrics, disk, control, sharing, cipher }));
  const tracePresets = createTracePresets({
    slowTraceMs: config.telemetry.slow_trace_ms,
    configured: config.telemetry.trace_presets,
  });
  let engines = knownEngines(config);
  const pricing = await openPricing({ settings: config.telemetry, engines: () => engines, logger });
  const { costs, ratesOf } = pricing;
  const { currency } = pricing.prices;
  const metricPresets = createMetricPresets({ ratesOf, configured: config.telemetry.metric_presets });
  const clientLimits = createClientLimits(config.server, logger, sharing?.failedKeys);
  const { failedKeys } = clientLimits;
  metrics.watchConnections(clientLimits);
  const address = { publicUrl: config.server.public_url, url: reachableUrl(bound) };
  const signIn = closeAtEnd(await openSignIn({ control, failedKeys, address, logger, settings: config.sign_in }));
  const checkKey = signIn.checkCaller;
  const usage = closeAtEnd(await MonthlyUsage.open({ ledger: createUsageLedger(control), logger }));
  const sharedLimits = await openSharedLimits(config.limits.shared, {
    databaseUrl: storage.database_url,
    ownLedger: sharing?.limits,
    logger,
    observer: metrics.sharedLimits,
  });
  if (sharedLimits !== undefined) closeAtEnd(sharedLimits);
  const alerts = closeAtEnd(
    createAlerts({
      settings: alertsOf(config),
      groups: config.alertGroups,
      control,
      store,
      url: address.publicUrl ?? address.url,
      logger,
      observer: metrics.alerts,
    }),
  );
  const models = closeAtEnd(
    await serveModels({
      config: modelsOf(config),
      dataDirectory,
      createEngine: createEngineFactory({ logger, dataDirectory }),
      logger,
      circuits: sharing?.circuits,
    }),
  );
  const { registry } = models;
  const money = closeAtEnd(await openServerBudgets({ control, pricing, registry, isShared, config, logger, alerts }));
  const limiter = createLimiter({ defaults: config.limits, usage, shared: sharedLimits, budgets: money.budgets });
  const settingsOf = createProjectSettings(control);
  const redaction = createRedaction(config.redaction, metrics.countRedaction);
  const { redactorOf } = redaction;
  const identity = { version, instanceId: randomUUID() };
  const audit = closeAtEnd(openServerAudit({ config, control, store, settingsOf, identity, logger, metrics, sharing }));
  const callTelemetry = closeAtEnd(
    config.telemetry.enabled
      ? createCallTelemetry({
          store,
          settingsOf,
          redactorOf,
          cipher,
          identity,
          currency,
          providerOf: (engine) => providerName(engine, engines[engine]),
          logger,
          onDrop: (calls, reason) => metrics.countDroppedTelemetry(calls, reason),
        })
      : noCallTelemetry,
  );
  const guardrails = closeAtEnd(createGuardrails(config.guardrails, { logger, rootOf: (id) => registry.rootOf(id) }));
  let { speech, transcription } = config;
  const observeCall = (call: FinishedCall): void => {
    metrics.observeCall(call);
    callTelemetry.observe(call);
  };
  const chatParts: ChatParts<RoutedChat> = {
    resolveModel: (scope, modelId) => registry.chat(modelId, scope.key),
    guardFor: (scope, modelId) => guardrails.forCall(scope, modelId),
    limiter,
    costs,
    observe: observeCall,
    keepsContent: (input) => !isPrivate(input) && callTelemetry.keepsContent(input.scope),
  };
  const retentionDays = storage.response_retention_days;
  const responses = closeAtEnd(serveResponses(chatParts, { control, retentionDays, cipher: rows, logger }));
  const otlp = closeAtEnd(
    createOtlp({ store, settingsOf, redactorOf, cipher, costs: pricing.reportedCosts, logger, settings: config.otlp }),
  );
  if (config.telemetry.enabled) money.recordTo(otlp.ingest);
  const audio = closeAtEnd(
    await createAudioRoutes({
      registry,
      limiter,
      uploads: parts.uploads,
      costs,
      observe: observeCall,
      logger,
      settings: () => ({ speech, transcription }),
    }),
  );
  const deletions = closeAtEnd(
    createDeletions({ control, store, settings: config.telemetry, runsJob, isShared, logger }),
  );
  const webConsole = createWebConsole({ logger });
  const grpc = closeAtEnd(
    createGrpcServer({
      ingest: otlp.ingest,
      limits: otlp.limits,
      checkKey,
      ...clientLimits,
      clientAddressOf: createClientAddress(config.server.trusted_proxies),
      admit(scope) {
        if (!takes(role, "telemetry_write")) throw notOfRole(role, "telemetry_write", "OTLP/gRPC");
        return limiter.admitTelemetry(scope, "ingest");
      },
      logger,
      settings: {
        bodyTimeoutMs: config.server.body_timeout_ms,
        bodyIdleTimeoutMs: config.server.body_idle_timeout_ms,
        keepAliveTimeoutMs: config.server.keep_alive_timeout_ms,
        shutdownTimeoutMs: config.server.shutdown_timeout_ms,
      },
      observe: metrics.observeRequest,
    }),
  );
  const routes = routesOfRole(role, [
    ...chatApiRoutes(chatParts),
    ...responses.routes,
    ...audio.routes,
    ...moderationRoutes({ moderatorFor: (scope, name) => guardrails.moderatorFor(scope, name), limiter, costs }),
    ...embeddingRoutes({
      resolveModel: (scope, modelId) => registry.embeddings(modelId, scope.key),
      limiter,
      costs,
      observe: observeCall,
    }),
    ...catalogRoutes(registry),
    ...priceRoutes(registry, pricing.prices),
    ...queryRoutes({ control, store, version, tracePresets, metricPresets, ratesOf, currency, alerts }),
    ...ingestRoutes(otlp, store),
    ...webConsole.routes,
    ...governanceRoutes(control),
    ...tenancyRoutes(control, (subject) => limiter.usageOf(subject)),
    ...money.routes,
    ...alertGroupRoutes(control),
    ...deletions.routes,
    ...auditRoutes(control),
    ...signIn.routes,
    ...scimRoutes({ control, logger, providers: () => signIn.providerSettings(), address }),
    ...statusRoutes({
      metrics,
      scrape: sharing?.scrape,
      document: toOpenApi(operations, version),
      docs: config.server.docs,
      ...createHealthChecks({
        control,
        store,
        disk,
        sharedLimits: sharedLimits && (() => sharedLimits.problem()),
        isClosing: () => closing,
      }),
    }),
  ]);
  audit.trail.useRoutes(routes);
  const http = closeAtEnd(
    await startHttpServer({
      settings: config.server,
      bound,
      http2: grpc,
      checkKey,
      sessions: signIn,
      ...clientLimits,
      admitRequest: createRequestAdmission(limiter),
      logger,
      observe: (request) => {
        metrics.observeRequest(request);
        observeRequest?.(request);
      },
      routes,
      audit: audit.trail,
    }),
  );

  const ownPort = takes(role, "telemetry_write") ? config.otlp.grpc_port : undefined;
  const grpcPort =
    ownPort === undefined ? undefined : await parts.listenGrpc(grpc, { host: config.server.host, port: ownPort });
  sharing?.answerScrapes(() => metrics.snapshot());
  starting.defer(watchEventLoop({ logger, observe: metrics.observeLoopDelay }).stop);
  starting.defer(() => {
    closing = true;
    responses.drain(config.server.shutdown_delay_ms + config.server.shutdown_timeout_ms);
  });
  const running = starting.move();
  return {
    url: address.url,
    host: http.host,
    port: http.port,
    grpcPort,
    firstStart: parts.firstStart,
    async reload(next) {
      audit.recordReload(next);
      const known = knownEngines(next);
      await pricing.prepareFor(known);
      await models.reload(modelsOf(next));
      engines = known;
      limiter.setDefaults(next.limits);
      money.reload(next);
      guardrails.reload(next.guardrails);
      redaction.reload(next.redaction);
      ({ speech, transcription } = next);
      signIn.reload(next.sign_in);
      await alerts.reload(alertsOf(next), next.alertGroups);
      logger.setLevel(next.server.log_level);
    },
    overview: async () => overviewOf(registry, store),
    prepareConsole: () => webConsole.prepare(),
    whenTelemetryReady: (signal) => store.whenReady(signal),
    lookForModels: () => models.lookAgain(),
    close: () => running.disposeAsync(),
  };
}
