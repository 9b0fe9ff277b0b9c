-- M2Bridge: the Macaulay2 half of m2bridge.
--
-- Three things live here: the frame loop that serves a Python process (bridgeServe), the exact
-- encoders of answers (JSON for scripts, flat segments for polynomials), and the table of
-- operations that frames may name. Nothing here knows what is being computed.
--
-- A script ends with "bridgeAnswer x". Under "M2 --script FILE" that prints one JSON document on
-- standard output; inside a session the same call hands the document to Python.

newPackage(
    "M2Bridge",
    Version => "0.1.0",
    Date => "November 2026",
    Headline => "exact, framed exchange with another process",
    Authors => {{Name => "m2bridge"}},
    Keywords => {"Interfaces"},
    DebuggingMode => false
    )

export {
    "bridgeAnswer",
    "bridgeServe",
    "bridgeStep",
    "bridgeOperation",
    "jsonText",
    "polynomialSegments",
    "polynomialsFromSegments"
    }

-- rawPairs, rawTerm and rawMakeMonomial are internal to M2; they are 10 to 100 times faster than
-- listForm and sums of terms. Whether they are there and right is tried below, once, at load time.
debug Core

protocolVersion = "3"

------------------------------------------------------------------------
-- JSON: exact, never through floating point
------------------------------------------------------------------------

jsonEscapes = hashTable {
    34 => "\\\"", 92 => "\\\\", 10 => "\\n", 13 => "\\r", 9 => "\\t"}
hexDigits = "0123456789abcdef"

-- What stands for each byte. The other control characters are not allowed inside a JSON string.
jsonBytes = apply(256, b -> (
        if jsonEscapes#?b then jsonEscapes#b
        else if b < 32 then concatenate("\\u00", hexDigits#(b // 16), hexDigits#(b % 16))
        else ascii {b}))

-- M2 takes long for each byte, so it looks at them only where there is something to escape.
jsonPiece = s -> if match("[[:cntrl:]\"\\\\]", s) then concatenate apply(ascii s, b -> jsonBytes#b) else s
jsonString = s -> concatenate("\"",
    apply((#s + 999) // 1000, k -> jsonPiece substring(1000 * k, 1000, s)), "\"")

jsonText = method()
jsonText ZZ := toString
jsonText QQ := q -> jsonString toString q
jsonText String := jsonString
jsonText Symbol := s -> jsonString toString s
jsonText Boolean := toString
jsonText Nothing := x -> "null"
jsonText InfiniteNumber := x -> jsonString toString x
jsonText BasicList := L -> concatenate("[", between(",", apply(toList L, jsonText)), "]")
jsonText HashTable := H -> (
    ks := sort apply(keys H, toString);
    byName := hashTable apply(keys H, k -> toString k => H#k);
    concatenate("{", between(",", apply(ks, k -> concatenate(jsonString k, ":", jsonText byName#k))), "}"))
jsonText RingElement := f -> (
    (c, e) := (coefficientTexts f, exponents f);
    concatenate("{\"coefficients\":[", between(",", apply(c, jsonString)),
        "],\"exponents\":", jsonText e, "}"))
jsonText Ideal := I -> jsonText I_*
jsonText Matrix := m -> jsonText entries m

------------------------------------------------------------------------
-- Polynomials as flat segments: how many terms each, coefficients, monomials
------------------------------------------------------------------------

-- The documented slow way to a polynomial's coefficients.
slowCoefficientTexts = f -> apply(listForm f, t -> toString t#1)

fastCoefficientTexts = f -> (
    (c, m) := rawPairs(raw coefficientRing ring f, raw f);
    apply(toList c, toString))

-- Monomials travel as "variable:exponent variable:exponent" in the slow way, and as the engine's
-- own text (letters a..z, A..Z, then x[52], ...) in the fast one.
slowMonomialTexts = f -> apply(exponents f, e -> concatenate between(" ",
        apply(select(#e, i -> e#i != 0), i -> concatenate(toString i, ":", toString e#i))))

fastMonomialTexts = f -> (
    (c, m) := rawPairs(raw coefficientRing ring f, raw f);
    apply(toList m, toString))

fastPathWorks = try (
    R := QQ(monoid[Variables => 60]);
    f := R_0^2*R_25*R_26^3*R_59^12 - 1/3*R_27*R_28 + 2;
    fastCoefficientTexts f === {"1", "-1/3", "2"}
        and fastMonomialTexts f === {"x[59]12A3za2", "CB", "1"}) else false

coefficientTexts = if fastPathWorks then fastCoefficientTexts else slowCoefficientTexts
monomialTexts = if fastPathWorks then fastMonomialTexts else slowMonomialTexts

joined = L -> concatenate between(",", L)

-- polynomialSegments: a list of polynomials of one ring -> three strings
polynomialSegments = method()
polynomialSegments List := L -> (
    cs := apply(L, coefficientTexts);
    {joined apply(cs, c -> toString(#c)), joined flatten cs, joined flatten apply(L, monomialTexts)})

-- A flat sum of many terms would be added from the left in quadratic time.
balancedSum = (zero, L) -> (
    if #L == 0 then return zero;
    while #L > 1 do L = apply(pack(4, L), p ->
        if #p == 4 then (p#0 + p#1) + (p#2 + p#3) else fold(plus, p));
    L#0)

-- M2's parser is quadratic in the length of a number: long ones come as digits to this base.
longBase = 10^200
longInteger = L -> fold((a, b) -> a * longBase + b, 0, L)

-- Coefficients arrive in lines of bounded length: M2's parser is slow on long ones. They are
-- literals that Python wrote from integers; nothing else is ever given to "value" here. A line
-- "!{sign,{digits of the numerator},{digits of the denominator}}" is one long number.
lineValues = l -> (
    if l#0 =!= "!" then return value concatenate("{", l, "}");
    (sign, n, d) := toSequence value substring(1, l);
    {if #d == 0 then sign * longInteger n else sign * longInteger n / longInteger d})

coefficientValues = s -> flatten apply(select(lines s, l -> #l > 0), lineValues)

integerList = s -> value concatenate("{", s, "}")

-- One term from a number and its list of (variable, exponent): the documented slow way, and the
-- engine's own.
slowTerms = (R, cs, monomials) -> apply(cs, monomials, (c, m) ->
    promote(c, R) * product(toList m, t -> R_(t#0)^(t#1)))

fastTerms = (R, cs, monomials) -> (
    (r, k) := (raw R, raw coefficientRing R);
    apply(cs, monomials, (c, m) -> rawTerm(r, rawFromNumber(k, c), rawMakeMonomial m)))

fastTermsTest = () -> (
    (Q, S, Z) := (QQ(monoid[Variables => 60]), (ZZ/7)(monoid[Variables => 2]), ZZ(monoid[Variables => 1]));
    -- variables in ascending order, as the engine wants them
    monomials := {{(0, 2), (59, 3)}, {(27, 1)}, {}};
    (new Q from balancedSum(raw 0_Q, fastTerms(Q, {5, -1/3, 2}, monomials)))
            === 5*Q_0^2*Q_59^3 - 1/3*Q_27 + 2
        and (new S from first fastTerms(S, {4/3}, {{(1, 300)}})) === (4/3)*S_1^300
        and (new Z from first fastTerms(Z, {2^70}, {{}})) === 2^70*1_Z)

fastTermsWork = try fastTermsTest() else false

-- polynomialsFromSegments(R, {terms per polynomial, pairs per term, coefficients, variables,
-- exponents, width}): the inverse for what Python sends. Pairs (variable, exponent) are sparse, by
-- ascending variable; their numbers are bytes when width is "bytes", decimal lists when one does not fit in a byte.
polynomialsFromSegments = method()
polynomialsFromSegments(Ring, List) := (R, segments) -> (
    numbers := if segments#5 === "bytes" then ascii else integerList;
    cs := coefficientValues segments#2;
    pairs := apply(numbers segments#3, numbers segments#4, identity);
    place := 0;
    monomials := apply(numbers segments#1, n -> (
            m := take(pairs, {place, place + n - 1});
            place = place + n;
            m));
    (zero, terms) := if fastTermsWork then (raw 0_R, fastTerms(R, cs, monomials))
        else (0_R, slowTerms(R, cs, monomials));
    start := 0;
    apply(integerList segments#0, n -> (
            f := balancedSum(zero, take(terms, {start, start + n - 1}));
            start = start + n;
            if fastTermsWork then new R from f else f)))

------------------------------------------------------------------------
-- The answer of a script
------------------------------------------------------------------------

serving = false
answerText = null

bridgeAnswer = x -> (
    answerText = jsonText x;
    if not serving then print answerText;)

------------------------------------------------------------------------
-- Operations: what a frame may ask for, by name
------------------------------------------------------------------------

operations = new MutableHashTable

-- bridgeOperation(name, f): f gets the list of data segments, returns a list of strings
bridgeOperation = (name, f) -> operations#name = f

bridgeOperation("echo", identity)

-- The value's text, as toString gives it; a value without one (null) is the empty text.
bridgeOperation("eval", segments -> (
        v := value segments#0;
        {if v === null then "" else toString v}))

runScript = file -> (
    answerText = null;
    load file;
    if answerText === null then error "the script gave no answer (it never called bridgeAnswer)";
    {answerText})

-- A script of ours: a file in the session's private folder, so that errors have a line.
bridgeOperation("script", segments -> runScript segments#0)

-- The same where Python and M2 share no folder: the script itself comes through the frame. Its
-- file stays until the next one comes, for there is no "finally" that keeps M2's own message.
scriptFile = null
writeScript = text -> (
    if scriptFile =!= null and fileExists scriptFile then removeFile scriptFile;
    scriptFile = temporaryFileName() | "-job0.m2";
    scriptFile << text << close;
    scriptFile)

bridgeOperation("scripttext", segments -> runScript writeScript segments#0)

-- Any script, for what it prints.
bridgeOperation("scriptrun", segments -> (load writeScript segments#0; {}))

bridgeOperation("packages", segments -> apply(segments, p -> toString(
            try (needsPackage p; true) else false)))

------------------------------------------------------------------------
-- Frames
------------------------------------------------------------------------

-- Header: "M2B", one letter, number of segments (4 bytes, the most significant first), job (8 bytes,
-- sent back as they came); then the segments' lengths (8 bytes each); then the segments.
headerSize = 16
lengthSize = 8
-- read makes a string of the size that it is asked for, and small ones cost M2 much less per byte
(smallRead, largeRead) = (256, 4000)

bridgeIn = null
bridgeOut = null
-- How often M2 looks whether the next request is there before it goes to sleep: being woken up
-- takes longer than a small job.
looks = 0
ownProcess = null

-- An interrupt may come at any step of what reads, and must not lose what has been read: it is kept
-- in "unread" and "more" until one assignment makes a request of it.
unread = ""
more = new MutableList -- what comes after "unread"

-- What Python sends next: a small request comes whole. No bytes mean that Python is gone.
readNext = () -> (
    unread = read(bridgeIn, smallRead);
    if unread === null or #unread === 0 then exit 0)

-- Whether a request has begun to come, or comes at once; what there is of it is then read
hasCome = () -> (
    if #unread > 0 then return true;
    for k to looks - 1 do if isReady bridgeIn then (
        readNext();
        return true);
    false)

-- at least n bytes of what is unread
readMore = n -> (
    have := #unread + sum(toList more, chunk -> #chunk);
    while have < n do (
        more#(#more) = read(bridgeIn, if n - have < smallRead then smallRead else largeRead);
        chunk := more#-1;
        if chunk === null or #chunk === 0 then exit 0;
        have = have + #chunk);
    (unread, more) = (concatenate(unread, toList more), new MutableList);
    unread)

lengthBytes = n -> ascii {n >> 56 & 255, n >> 48 & 255, n >> 40 & 255, n >> 32 & 255,
    n >> 24 & 255, n >> 16 & 255, n >> 8 & 255, n & 255}

-- Most numbers are small, and looked up faster than computed.
smallNumbers = 1024
lengthsOfSmall = apply(smallNumbers, lengthBytes)
countsOfSmall = apply(lengthsOfSmall, b -> substring(4, b))
lengthOf = s -> if #s < smallNumbers then lengthsOfSmall#(#s) else lengthBytes(#s)
countOf = n -> if n < smallNumbers then countsOfSmall#n else substring(4, lengthBytes n)
numberIn = b -> fold((high, low) -> 256 * high + low, 0, ascii b)

-- What follows from a table of lengths: where each segment begins and how long it is (the first one
-- apart), and where the frame ends. Short tables come again and again, and are kept.
mostKept = 4 -- segments
tableSizes = hashTable apply(mostKept + 1, n -> countsOfSmall#n => lengthSize * n)
mostShapes = 4096
shapes = new MutableHashTable
shapeOf = table -> (
    place := headerSize + #table;
    places := for k to #table // lengthSize - 1 list (
        n := numberIn substring(lengthSize * k, lengthSize, table);
        place = place + n;
        (place - n, n));
    shape := (first places, drop(places, 1), place);
    if #table <= lengthSize * mostKept and #shapes < mostShapes then shapes#table = shape;
    shape)

-- The next call as (job, name of an operation, its data), and what is unread after it
readFrame = () -> (
    s := if #unread < headerSize then readMore headerSize else unread;
    -- told to quit, or out of step: nothing sensible can follow
    if substring(0, 4, s) =!= "M2BC" then exit if substring(0, 4, s) === "M2BQ" then 0 else 70;
    count := substring(4, 4, s);
    size := if tableSizes#?count then tableSizes#count else lengthSize * numberIn count;
    if #s < headerSize + size then s = readMore(headerSize + size);
    table := substring(headerSize, size, s);
    (name, places, end) := if shapes#?table then shapes#table else shapeOf table;
    if #s < end then s = readMore end;
    ((substring(8, 8, s), substring(name, s), apply(places, (place, n) -> substring(place, n, s))),
        if #s > end then substring(end, s) else ""))

-- a first segment, and a list of others
writeFrame = (letter, job, text, others) -> (
    bridgeOut << concatenate("M2B", letter, countOf(#others + 1), job, lengthOf text,
        apply(others, lengthOf)) << text;
    for s in others do bridgeOut << s;
    bridgeOut << flush)

------------------------------------------------------------------------
-- The loop
------------------------------------------------------------------------

-- what is asked for, as (job, operation, data), and the data of the answer
request = null
reply = null
-- whether an interrupt came before the request that it was meant for had been read
stopped = false

-- capture looks up how to show prompts and values by M2's mode: a mode without any is faster. Our
-- code runs in it; the user's code has M2's usual one, or what it has chosen.
quietMode = symbol bridgeStep
modeOfUser = topLevelMode

-- The only code that "capture" is given as text is a call of this function; capture echoes what
-- it runs, and what it echoes stays the same. The marks tell the user's output from the echo.
-- A request that comes at once finds capture ready. None is waited for here: M2 1.26 hangs when an
-- interrupt ends a read inside of capture.
bridgeStep = () -> (
    -- capture sets this in older versions, and then an interrupt would end the process
    stopIfError = false;
    if not hasCome() then return;
    (request, unread) = readFrame();
    (job, operation, data) := request;
    if operation === "echo" then (
        stopped = false;
        << "\002\003";
        reply = data;
        return);
    if stopped then (
        stopped = false;
        error "interrupted");
    topLevelMode = modeOfUser;
    << "\002";
    if not operations#?operation then error("unknown operation: ", operation);
    reply = operations#operation data;
    << "\003";
    modeOfUser = topLevelMode;
    topLevelMode = quietMode;)

-- capture without the choice of its method and options, which takes longer than it does
captureStep = try (lookup(capture, String)) (options capture) else capture

serveOnce = () -> (
    request = reply = null;
    -- who never looks would leave capture once more for each request
    if looks === 0 and #unread === 0 then readNext();
    topLevelMode = quietMode;
    (failed, text) := captureStep "bridgeStep()";
    -- not where an interrupt came before the user's code, or after it
    if failed and topLevelMode =!= quietMode then modeOfUser = topLevelMode;
    -- a copy that the code made of this process has no business here
    if processID() =!= ownProcess then kill processID();
    if request === null then (
        if not failed then readNext()
        else if match("interrupted", text) then stopped = true
        else exit 70)
    else if failed or reply === null then writeFrame("X", request#0, text, {})
    else writeFrame("R", request#0, text, reply))

-- descriptors of the two pipes, and how often to look for a request before sleeping
bridgeServe = (inputDescriptor, outputDescriptor, patience) -> (
    looks = patience;
    bridgeIn = openIn("/dev/fd/" | toString inputDescriptor);
    bridgeOut = openOut("/dev/fd/" | toString outputDescriptor);
    ownProcess = processID();
    serving = true;
    writeFrame("H", "\0\0\0\0\0\0\0\0", protocolVersion, {version#"VERSION",
            M2Bridge.Options.Version, toString fastPathWorks});
    while true do serveOnce())

beginDocumentation()

doc ///
Key
  M2Bridge
Headline
  exact, framed exchange with another process
Description
  Text
    The Macaulay2 half of the Python package m2bridge. Answers of scripts are JSON documents in
    which no number passes through floating point; polynomials travel as coefficients and
    exponents, never as printed expressions.
///

doc ///
Key
  bridgeAnswer
Headline
  give the answer of a script
Usage
  bridgeAnswer x
Inputs
  x:Thing
    made of hash tables, lists, strings, integers, rationals, booleans, null, ring elements, ideals
Description
  Text
    Prints one JSON document on standard output, or hands it to the process that is being served.
  Example
    R = QQ[x,y];
    bridgeAnswer hashTable {"dimension" => 1, "polynomial" => x^2 - 1/3*y}
///

doc ///
Key
  jsonText
  (jsonText, ZZ)
  (jsonText, QQ)
  (jsonText, RingElement)
Headline
  exact JSON text of a value
Usage
  jsonText x
Description
  Text
    Rational numbers become strings such as "1/3"; a polynomial becomes an object with its
    coefficients (strings) and exponent vectors.
  Example
    jsonText {1, 1/3, "a", true, null}
///

TEST ///
assert(jsonText {1, 1/3, true, null} === "[1,\"1/3\",true,null]")
assert(jsonText "a\"b\\c\n" === "\"a\\\"b\\\\c\\n\"")
-- long texts are cut between any two bytes
assert(jsonText concatenate(999: "x", "\303\251\n") === concatenate("\"", 999: "x", "\303\251\\n\""))
assert(jsonText hashTable {"b" => 1, "a" => {}} === "{\"a\":[],\"b\":1}")
R = QQ[x, y]
assert(jsonText(x^2 - 1/3*y) === "{\"coefficients\":[\"1\",\"-1/3\"],\"exponents\":[[2,0],[0,1]]}")
///

TEST ///
-- what Python sends for {x^2 - 1/3*y, 0, 5}
R = QQ[x, y]
segments = {"2,0,1", ascii {1, 1, 0}, "1,-1/3\n5\n", ascii {0, 1}, ascii {2, 1}, "bytes"}
assert(polynomialsFromSegments(R, segments) === {x^2 - 1/3*y, 0_R, 5_R})
-- a wide exponent, and a long coefficient in digits to the base 10^200
wide = {"1", "1", "!{-1,{3,4},{7}}\n", "1", "300", "text"}
assert(polynomialsFromSegments(R, wide) === {-(3*10^200 + 4)/7*y^300})
///

TEST ///
-- the fast path and the documented slow path tell the same coefficients
R = QQ[x, y]
f = 7*x^3*y - 22/7*y + 1
assert(first polynomialSegments {f} === "3")
assert((polynomialSegments {f})#1 === "7,-22/7,1")
///
