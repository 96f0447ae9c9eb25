// The words that the history's filters take.

export const CALL_STATUSES = [
  'queued',
  'running',
  'succeeded',
  'failed',
  'cancelled',
  'outcome_unknown',
] as const;

export const AUDIT_KINDS = [
  'intent',
  'outcome',
  'accepted',
  'gap',
  'approval',
  'resolution',
  'reconciled',
  'management',
] as const;
