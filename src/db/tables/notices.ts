/** What people are told of, by event and by mail. */
import type { Generated, GeneratedAlways } from 'kysely';
import type { Json, NullableTimestamp, Timestamp } from './columns.ts';

export interface NoticeTables {
  notice_signs: {
    reporter: string;
    type: string;
    subject: string;
    data: Json<Record<string, unknown>>;
    since: NullableTimestamp;
    hold_ms: number;
    seen_at: Timestamp;
  };
  notices: {
    workspace_id: string;
    id: string;
    type: string;
    thing: string;
    subject: string;
    data: Json<Record<string, unknown>>;
    since: Timestamp;
    raised_at: Timestamp;
    well_since: NullableTimestamp;
    cleared_at: NullableTimestamp;
  };
  notice_looks: {
    id: GeneratedAlways<number>;
    kind: string;
    workspace_id: string;
    thing: string;
    at: Timestamp;
    planned: Generated<boolean>;
  };
  notice_recipients: {
    workspace_id: string;
    user_id: string;
    wants_mail: Generated<boolean>;
    mailed_at: NullableTimestamp;
  };
  notice_mails: {
    id: GeneratedAlways<number>;
    workspace_id: string;
    user_id: string;
    notice_id: string;
    change: 'raised' | 'cleared';
    attempts: Generated<number>;
    created_at: Timestamp;
    due_at: Timestamp;
  };
}
