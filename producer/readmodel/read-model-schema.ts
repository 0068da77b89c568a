/** Raised with every change of the tables: a file of another version is emptied and filled anew from the buckets. */
export const schemaVersion = 4;

export const tables = `
  create table runs (
    run text primary key,
    tenant text not null,
    name text,
    status text not null,
    outcome text,
    reason text not null,
    exit_code integer,
    policy text,
    queue text,
    requester text not null,
    labels text not null,
    inputs text not null,
    accepted_at text not null,
    finished_at text
  ) without rowid;
  create index runs_by_tenant on runs (tenant, run);
  create index runs_by_status on runs (tenant, status, run);
  create index runs_by_outcome on runs (tenant, outcome, run);
  create index runs_unfinished on runs (substr(run, -1), tenant || '/' || run) where status <> 'finished';
  create table labels (
    tenant text not null,
    name text not null,
    value text not null,
    run text not null,
    primary key (tenant, name, value, run)
  ) without rowid;
  create table places (
    tenant text primary key,
    tail integer not null,
    day text,
    after text not null
  ) without rowid;
`;

/** Everything that the tables hold is in the buckets too. */
export const emptyTables = ['runs', 'labels', 'places'].map((name) => `drop table if exists ${name};`).join(' ');
