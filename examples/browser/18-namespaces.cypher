// Which namespaces are there, and what do they hold?
// A row is a namespace: skills stored (expired ones too, until a sweep), how many are transferable, transfers, mean
// confidence, and the number of changes so far.
MATCH (n:Namespace) WHERE n.name > ""
RETURN n.name AS namespace, n.stored AS skills, n.transferable AS transferable, n.transfers AS transfers,
  CASE WHEN n.stored > 0 THEN round(1.0 * n.confidence_units / n.stored / 1099511627776, 3) END AS mean_confidence,
  n.version AS changes
ORDER BY namespace LIMIT 100;
