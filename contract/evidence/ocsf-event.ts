import { limitNames } from '../limits.ts';
import { committedAttempt, type Result } from '../result.ts';

/** The version of the Open Cybersecurity Schema Framework whose words these are. */
const ocsfVersion = '1.3.0';

/** Process Activity, of the category System Activity. */
const classUid = 1007;
const categoryUid = 1;

/** A run ends when its process terminates. One that no cell executed has no process: a request that came to nothing. */
const activities = { terminate: [2, 'Terminate'], other: [99, 'Not executed'] } as const;

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** A finished run as one event for a SIEM. What has no word there stands in `unmapped`, under the names of the result. */
export function ocsfEvent(result: Result, version: string): Record<string, Json> {
  const { timings, outcome, reason, exitCode, usage, tenant, run } = result;
  const attempt = committedAttempt(result);
  const [activityId, activityName] = result.blocks.length > 0 ? activities.terminate : activities.other;
  const isSuccess = outcome === 'succeeded';
  const start = Date.parse(attempt?.startedAt ?? timings.acceptedAt);
  const end = Date.parse(timings.finishedAt);
  return {
    activity_id: activityId,
    activity_name: activityName,
    category_uid: categoryUid,
    category_name: 'System Activity',
    class_uid: classUid,
    class_name: 'Process Activity',
    type_uid: classUid * 100 + activityId,
    type_name: `Process Activity: ${activityName}`,
    severity_id: isSuccess ? 1 : 2,
    severity: isSuccess ? 'Informational' : 'Low',
    status_id: isSuccess ? 1 : 2,
    status: isSuccess ? 'Success' : 'Failure',
    status_code: outcome,
    status_detail: reason,
    message: `Run ${run} of ${tenant}: ${outcome}. ${reason}`,
    time: end,
    start_time: start,
    end_time: end,
    duration: usage.wallMs,
    ...(exitCode === null ? {} : { exit_code: exitCode }),
    metadata: {
      version: ocsfVersion,
      uid: run,
      tenant_uid: tenant,
      profiles: ['container'],
      product: { name: 'Hotcell', vendor_name: 'Hotcell', version },
      log_name: 'runs',
      original_time: timings.finishedAt,
      labels: Object.entries(result.labels).map(([name, value]) => `${name}=${value}`),
    },
    actor: { user: userOf(result) },
    device: { type_id: 0, type: 'Unknown', name: attempt?.worker ?? 'producer' },
    process: processOf(result, start, end),
    unmapped: unmapped(result),
  };
}

function processOf({ run, blocks, image, runtime, posture }: Result, start: number, end: number): Json {
  return {
    uid: run,
    name: blocks[0]?.file ?? run,
    created_time: start,
    terminated_time: end,
    // A run that ended before its cell was made has an image, and no container.
    ...(image && posture
      ? {
          container: {
            uid: posture.own?.['container'] ?? run,
            name: posture.own?.['name'] ?? run,
            image: { uid: image.digest, name: image.ref },
            ...(runtime ? { runtime } : {}),
          },
        }
      : {}),
  };
}

function userOf({ requester: { key, role } }: Result): Json {
  const [typeId, type] = role === 'admin' ? [2, 'Admin'] : [1, 'User'];
  return { uid: key, name: `${role} key ${key}`, type_id: typeId, type };
}

function unmapped(result: Result): Json {
  const { spec, policy, inputs, outputs, logs, limits, usage, posture, evidence, attempts, warnings, errors } = result;
  return {
    spec,
    policy,
    inputs: inputs.map(({ name, snapshot }) => ({ name, snapshot })),
    outputs: {
      snapshot: outputs.snapshot,
      files: usage.outputFiles,
      bytes: usage.outputBytes,
      refused: outputs.refused.length,
    },
    logs,
    limits: limits && Object.fromEntries(limitNames.map((name) => [name, limits[name]])),
    usage,
    isolation: posture?.worth ?? null,
    evidence: evidence ?? null,
    attempts: attempts.length,
    warnings,
    errors: errors ?? [],
  };
}
