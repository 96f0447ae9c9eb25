// AnswerLost: the database was told to do something and its answer did not come. It may have been done.
import { ToolFailure } from '../contract/call/tool-failure.ts';

/** To a caller it is like any other UNAVAILABLE (DATABASE_UNAVAILABLE); whoever wrote something has to find out. */
export class AnswerLost extends ToolFailure {}
