/** Defines the column values that all records of one resource and scope share. */
export interface RecordGroup {
  readonly project: Uint8Array;
  readonly service: Uint8Array;
  /** The project's retention. */
  readonly days: number;
  readonly resourceId: Uint8Array;
  readonly scopeId: Uint8Array;
}
