/** A thread for long work. */
import { answerCalls } from '@hotcell/outside/process/thread-calls.ts';
import { longCalls } from './long-calls.ts';

answerCalls(() => longCalls);
