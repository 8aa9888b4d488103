/**
 * Writes what a query cost as Loki's statistics. Clients read the summary; the parts about chunks, caches and ingesters, which
 * Sounding does not have, are 0. https://grafana.com/docs/loki/latest/reference/loki-http-api/#statistics
 */
import type { QueryStatistics } from "@sounding/logql/query-result";

const nothing: QueryStatistics = { entriesRead: 0, bytesRead: 0, entriesReturned: 0, durationMs: 0 };

const cacheNames = [
  "chunk",
  "index",
  "result",
  "statsResult",
  "volumeResult",
  "seriesResult",
  "labelResult",
  "instantMetricResult",
  "logResult",
  "taskResult",
] as const;
const unusedCache = {
  entriesFound: 0,
  entriesRequested: 0,
  entriesStored: 0,
  bytesReceived: 0,
  bytesSent: 0,
  requests: 0,
  downloadTime: 0,
  queryLengthServed: 0,
} as const;
const cache = Object.fromEntries(cacheNames.map((name) => [name, unusedCache]));

export function statisticsJson(statistics: QueryStatistics = nothing): unknown {
  const { bytesRead, durationMs, entriesRead, entriesReturned } = statistics;
  const seconds = durationMs / 1000;
  const perSecond = (amount: number): number => (seconds > 0 ? Math.round(amount / seconds) : 0);
  return {
    summary: {
      bytesProcessedPerSecond: perSecond(bytesRead),
      linesProcessedPerSecond: perSecond(entriesRead),
      totalBytesProcessed: bytesRead,
      totalLinesProcessed: entriesRead,
      execTime: seconds,
      queueTime: 0,
      subqueries: 0,
      totalEntriesReturned: entriesReturned,
      splits: 0,
      shards: 0,
      totalPostFilterLines: entriesReturned,
      totalStructuredMetadataBytesProcessed: 0,
    },
    querier: { store: storeJson({ bytesRead, entriesRead }), querierExecTime: seconds },
    ingester: {
      totalReached: 0,
      totalChunksMatched: 0,
      totalBatches: 0,
      totalLinesSent: 0,
      store: storeJson({ bytesRead: 0, entriesRead: 0 }),
    },
    cache,
    index: {
      totalChunks: 0,
      postFilterChunks: 0,
      shardsDuration: 0,
      usedBloomFilters: false,
      totalStreams: 0,
      chunkRefsLookupTime: 0,
      bloomFilterTime: 0,
    },
  };
}

function storeJson({ bytesRead, entriesRead }: Pick<QueryStatistics, "bytesRead" | "entriesRead">): unknown {
  return {
    totalChunksRef: 0,
    totalChunksDownloaded: 0,
    chunksDownloadTime: 0,
    queryReferencedStructuredMetadata: false,
    queryUsedV2Engine: false,
    chunk: {
      headChunkBytes: 0,
      headChunkLines: 0,
      decompressedBytes: bytesRead,
      decompressedLines: entriesRead,
      compressedBytes: 0,
      totalDuplicates: 0,
      postFilterLines: 0,
      headChunkStructuredMetadataBytes: 0,
      decompressedStructuredMetadataBytes: 0,
    },
    chunkRefsFetchTime: 0,
    congestionControlLatency: 0,
    pipelineWrapperFilteredLines: 0,
  };
}
