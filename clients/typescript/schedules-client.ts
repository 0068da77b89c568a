import { routes } from '@hotcell/contract/api/routes.ts';
import type {
  AppliedSchedule,
  ListedSchedule,
  Schedule,
  Tick,
  VersionOfSchedule,
} from '@hotcell/contract/api/schedules.ts';
import type { Call } from '@hotcell/contract/api/call.ts';
import type { Http } from './http.ts';

type NewSchedule = Call<typeof routes.createSchedule>['json'];
type ScheduleChange = Call<typeof routes.changeSchedule>['json'];
type ScheduleApplication = Call<typeof routes.applySchedule>['json'];
type BackfillRequest = Call<typeof routes.backfillSchedule>['json'];
type Page = Call<typeof routes.listTicks>['query'];

/** Runs that repeat: `await hotcell.schedules.create({ name: 'nightly', trigger: { cron: '0 6 * * *' }, run })`. */
export class Schedules {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Its runs have the rights of this client's key. */
  async create(schedule: NewSchedule): Promise<Schedule> {
    return await this.#http.call(routes.createSchedule, { json: schedule });
  }

  /** Replaces all of it: a new version. */
  async change(name: string, schedule: ScheduleChange): Promise<Schedule> {
    return await this.#http.call(routes.changeSchedule, { params: { name }, json: schedule });
  }

  /** Makes it be as asked: a new schedule, a new version, or nothing if it is so already. */
  async apply(name: string, schedule: ScheduleApplication): Promise<AppliedSchedule> {
    return await this.#http.call(routes.applySchedule, { params: { name }, json: schedule });
  }

  /** A version, with the request of its runs. */
  async version(name: string, number: number): Promise<VersionOfSchedule> {
    return await this.#http.call(routes.getScheduleVersion, { params: { name, number } });
  }

  async show(name: string): Promise<Schedule> {
    return await this.#http.call(routes.getSchedule, { params: { name } });
  }

  /** A page of schedules in the order of their names. Its `next` is the `cursor` of the page after it. */
  async list(query: Page = {}): Promise<{ schedules: ListedSchedule[]; next: string | null }> {
    return await this.#http.call(routes.listSchedules, { query });
  }

  /** A page of ticks, the newest first. */
  async ticks(name: string, query: Page = {}): Promise<{ ticks: Tick[]; next: string | null }> {
    return await this.#http.call(routes.listTicks, { params: { name }, query });
  }

  async pause(name: string, reason?: string): Promise<Schedule> {
    const json = reason === undefined ? {} : { reason };
    return await this.#http.call(routes.pauseSchedule, { params: { name }, json });
  }

  async resume(name: string): Promise<Schedule> {
    return await this.#http.call(routes.resumeSchedule, { params: { name } });
  }

  /** Asks for a tick now. Answers the id that its run will have. */
  async trigger(name: string): Promise<{ planned: string; run: string }> {
    return await this.#http.call(routes.triggerSchedule, { params: { name } });
  }

  /** Gives runs to ticks of the past that have none, `parallel` at once. */
  async backfill(name: string, json: BackfillRequest): Promise<{ id: string; ticks: number }> {
    return await this.#http.call(routes.backfillSchedule, { params: { name }, json });
  }

  async remove(name: string): Promise<void> {
    await this.#http.call(routes.deleteSchedule, { params: { name } });
  }
}
