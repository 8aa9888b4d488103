/** The attributes that name the person who uses an application, most of them by other libraries than OpenTelemetry's. */
export const endUserAttributes = [
  "user.id",
  "enduser.id",
  "enduser.pseudo.id",
  "user_id",
  "langfuse.user.id",
  "traceloop.association.properties.user_id",
  "ai.telemetry.metadata.userId",
];
