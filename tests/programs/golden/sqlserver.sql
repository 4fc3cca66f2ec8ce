/* A rule model exported by rulewright for SQL Server. The syntax is checked with a parser; the
statement was never run on SQL Server. Scores equal the scores of the model if SQL Server reads
decimals as the nearest double; probabilities may differ in the last digits. It needs SQL Server
2022. Rules have the numbers of the printed model; sums add them in the order of learning. Missing
is NULL or NaN; an empty string is a label. Numbers must be of a numeric type; text that holds
numbers is read as numbers. Labels must be text or integers, Booleans BIT or text, dates DATE,
DATETIME or DATETIME2. */
WITH rw_checked_input AS (
  SELECT
    CAST(rw_table.[age] AS DOUBLE PRECISION) AS age,
    CASE WHEN CAST(rw_table.[color] AS NVARCHAR(MAX)) LIKE N'%[ ]' THEN CONCAT(CAST(rw_table.[color] AS NVARCHAR(MAX)), NCHAR(57344)) ELSE CAST(rw_table.[color] AS NVARCHAR(MAX)) END COLLATE Latin1_General_BIN2 AS color,
    CASE WHEN rw_table.[plan] > 9007199254740992 OR rw_table.[plan] < -9007199254740992 THEN 1.8014398509481984e+16 ELSE CAST(rw_table.[plan] AS DOUBLE PRECISION) END AS [plan],
    CASE WHEN rw_table.[active] IS NULL THEN NULL ELSE CASE LOWER(CASE WHEN CAST(rw_table.[active] AS NVARCHAR(MAX)) LIKE N'%[ ]' THEN CONCAT(CAST(rw_table.[active] AS NVARCHAR(MAX)), NCHAR(57344)) ELSE CAST(rw_table.[active] AS NVARCHAR(MAX)) END COLLATE Latin1_General_BIN2) WHEN N'true' THEN 1 WHEN N'1' THEN 1 WHEN N'false' THEN 0 WHEN N'0' THEN 0 ELSE 2 END END AS active
  FROM [customers] AS rw_table
), rw_model AS (
  SELECT
    0.1e0
    /* rule 3: points +0.400 for stay: active = true */
    + CASE WHEN active = 1 THEN 0.4e0 ELSE 0e0 END AS rw_score_stay,
    -0.2e0
    /* rule 2: points +0.830 for churn: age <= 34 and color = red */
    + CASE WHEN age <= 34e0 AND color = N'red' THEN 0.83e0 ELSE 0e0 END
    /* rule 1: points +1.250 for churn: age > 60 and plan != "1" */
    + CASE WHEN age > 60e0 AND [plan] <> 1e0 THEN 1.25e0 ELSE 0e0 END AS rw_score_churn
  FROM rw_checked_input
), rw_model_2 AS (
  SELECT
    rw_score_stay,
    rw_score_churn,
    GREATEST(rw_score_stay, rw_score_churn) AS rw_largest
  FROM rw_model
), rw_model_3 AS (
  SELECT
    rw_score_stay,
    rw_score_churn,
    rw_largest,
    EXP((rw_score_stay - rw_largest)) AS rw_odds_stay,
    EXP((rw_score_churn - rw_largest)) AS rw_odds_churn
  FROM rw_model_2
), rw_model_4 AS (
  SELECT
    rw_score_stay,
    rw_score_churn,
    rw_largest,
    rw_odds_stay,
    rw_odds_churn,
    (rw_odds_stay + rw_odds_churn) AS rw_total
  FROM rw_model_3
)
  SELECT
    rw_score_stay AS [score_stay],
    rw_score_churn AS [score_churn],
    (rw_odds_stay / rw_total) AS [probability_stay],
    (rw_odds_churn / rw_total) AS [probability_churn],
    CASE WHEN (rw_score_stay = rw_largest) THEN N'stay' WHEN (rw_score_churn = rw_largest) THEN N'churn' END AS [label]
  FROM rw_model_4
