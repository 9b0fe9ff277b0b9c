-- M2Algebra: the operations of commutative algebra that m2bridge asks for by name.
--
-- Rings, ideals and matrices live here under numbers; Python holds the numbers, and the generators
-- to send again when this process is gone. Polynomials come and go as the flat segments of
-- M2Bridge, everything else as JSON. No name of the user's ever gets here: variables are numbered.

newPackage(
    "M2Algebra",
    Version => "0.1.0",
    Date => "November 2026",
    Headline => "commutative algebra for another process",
    Authors => {{Name => "m2bridge"}},
    Keywords => {"Interfaces"},
    PackageImports => join(
        {"M2Bridge", "Elimination", "LLLBases", "MinimalPrimes", "PrimaryDecomposition", "Saturation"},
        -- free resolutions moved out of Core
        if Core.Dictionary#?"resolution" then {} else {"Complexes"}),
    DebuggingMode => false
    )

------------------------------------------------------------------------
-- Numbers for things
------------------------------------------------------------------------

things = new MutableHashTable
counter = 0
keep = x -> (
    counter = counter + 1;
    things#counter = x;
    counter)

-- Nested lists of integers, written by Python.
integersIn = s -> (
    if not match("^[-0-9,{} ]*$", s) then error "arguments must be integers";
    value s)

------------------------------------------------------------------------
-- Rings. A record knows the ring, and a flat ring over ZZ, QQ or ZZ/p in which its elements
-- travel: over an extended field the root is one more variable there.
------------------------------------------------------------------------

coefficientRings = new MutableHashTable

extendedField = minimalPolynomial -> (
    A := QQ(monoid[Variables => 1]);
    f := sum(#minimalPolynomial, i -> minimalPolynomial#i * A_0^i);
    toField(A / ideal f))

coefficientsOf = (kind, p, minimalPolynomial) -> (
    key := (kind, p, minimalPolynomial);
    if not coefficientRings#?key then coefficientRings#key = (
        if kind == 0 then ZZ else if kind == 1 then QQ else if kind == 2 then ZZ/p
        else extendedField minimalPolynomial);
    coefficientRings#key)

orderBlock = b -> (
    if b#0 == 1 then GRevLex => b#1
    else if b#0 == 2 then Lex => b#1
    else Weights => b#1)

makeRing = (kind, p, minimalPolynomial, n, order) -> (
    K := coefficientsOf(kind, p, minimalPolynomial);
    R := if n == 0 then K(monoid[Variables => 0])
        else K(monoid[Variables => n, MonomialOrder => apply(order, orderBlock)]);
    extended := kind == 3;
    F := if extended then QQ(monoid[Variables => n + 1]) else R;
    -- invariants of a grading want the degree to come first
    plain := #order <= 1 and all(order, b -> b#0 == 1);
    G := if plain then R else K(monoid[Variables => n]);
    hashTable {
        "ring" => R, "flat" => F, "graded" => G,
        "out" => if extended then map(F, R, gens F) else identity,
        "in" => if extended then map(R, F, append(gens R, K_0 * 1_R)) else identity,
        "relation" => if extended then ideal sum(#minimalPolynomial, i -> minimalPolynomial#i * F_n^i)
            else ideal 0_F,
        "toGraded" => if plain then identity else map(G, R, gens G),
        "fromGraded" => if plain then identity else map(R, G, gens R)})

gradedIdeal = (r, I) -> (
    if r#"graded" === r#"ring" then return I;
    if not I.cache#?"graded" then I.cache#"graded" = r#"toGraded" I;
    I.cache#"graded")

-- K[x] for K = QQ[a]/(f) is QQ[x, a]/(f): primes of the one are the primes over f of the other.
flatIdeal = (r, I) -> if r#"flat" === r#"ring" then I else r#"out" I + r#"relation"

fromFlat = (r, J) -> if r#"flat" === r#"ring" then J else trim r#"in" J

------------------------------------------------------------------------
-- Operations: (ring record, integers, polynomials) -> {header, polynomials, [record of these]}
------------------------------------------------------------------------

algebraOperations = new MutableHashTable
operation = (name, f) -> algebraOperations#name = f

-- arguments: {ring, numbers that are no longer needed, integers}
bridgeOperation("algebra", segments -> (
        (ringNumber, released, arguments) := toSequence integersIn segments#1;
        scan(released, i -> if things#?i then remove(things, i));
        r := if ringNumber == 0 then null else things#ringNumber;
        polynomials := if #segments == 2 then {} else
            apply(polynomialsFromSegments(r#"flat", drop(segments, 2)), f -> r#"in" f);
        answer := algebraOperations#(segments#0) (r, arguments, polynomials);
        last := if #answer > 2 then answer#2 else r;
        prepend(jsonText answer#0, polynomialSegments apply(answer#1, f -> last#"out" f))))

idealsAnswer = Is -> {apply(Is, I -> {keep I, numgens I}), flatten apply(Is, I -> I_*)}
matrixEntries = M -> flatten entries M
matricesAnswer = Ms -> (
    {apply(Ms, M -> {keep M, numRows M, numColumns M}), flatten apply(Ms, matrixEntries)})

operation("ring", (r, a, fs) -> {keep makeRing toSequence a, {}})

operation("ideal", (r, a, fs) -> {
        keep ideal(if #fs == 0 then map((r#"ring")^1, (r#"ring")^0, 0) else map((r#"ring")^1,, {fs})), {}})

operation("matrix", (r, a, fs) -> (
        (R, rows, columns) := (r#"ring", a#0, a#1);
        {keep if rows == 0 or columns == 0 then map(R^rows, R^columns, 0)
            else map(R^rows,, pack(columns, fs)), {}}))

operation("map", (r, a, fs) -> {keep map(r#"ring", things#(a#0)#"ring", fs), {}})

------------------------------------------------------------------------
-- Ideals
------------------------------------------------------------------------

operation("groebner", (r, a, fs) -> {null, matrixEntries gens gb things#(a#0)})

operation("reduce", (r, a, fs) -> (
        I := things#(a#0);
        {null, apply(fs, f -> f % I)}))

-- for each f: numgens I cofactors, then the remainder
operation("divide", (r, a, fs) -> (
        I := things#(a#0);
        {null, flatten apply(fs, f -> (
                    (q, s) := quotientRemainder(matrix {{f}}, gens I);
                    append(flatten entries q, s_(0, 0))))}))

operation("equal", (r, a, fs) -> {things#(a#0) == things#(a#1), {}})
operation("subset", (r, a, fs) -> {isSubset(things#(a#0), things#(a#1)), {}})

operation("invariants", (r, a, fs) -> (
        J := gradedIdeal(r, things#(a#0));
        {{dim J, degree J}, {}}))

operation("poincare", (r, a, fs) -> (
        p := poincare comodule gradedIdeal(r, things#(a#0));
        {apply(listForm p, t -> {t#0#0, t#1}), {}}))

-- superfluous generators would give a resolution that is not minimal
operation("betti", (r, a, fs) -> (
        tally := betti resolution comodule trim gradedIdeal(r, things#(a#0));
        {apply(pairs tally, (k, v) -> {k#0, k#2, v}), {}}))

resolutionOf = (r, M) -> (
    C := resolution M;
    matricesAnswer apply(toList(1..length C), i -> C.dd_i))

operation("resolution", (r, a, fs) -> (
        x := things#(a#0);
        if instance(x, Ideal) then resolutionOf(r, comodule if isHomogeneous x then trim x else x) else resolutionOf(r, coker x)))

operation("trim", (r, a, fs) -> idealsAnswer {trim things#(a#0)})

operation("eliminate", (r, a, fs) -> idealsAnswer {
        eliminate(apply(a#1, i -> (r#"ring")_i), things#(a#0))})

-- M2's quotient gives wrong ideals over an extended field (1.21 to 1.26): there it is asked for that
-- of the flat ideals, and the same for saturation, which is made of quotients.
byFlatIdeals = (r, f, I, J) -> idealsAnswer {fromFlat(r, f(flatIdeal(r, I), r#"out" J))}
operation("quotient", (r, a, fs) -> byFlatIdeals(r, quotient, things#(a#0), things#(a#1)))
operation("saturate", (r, a, fs) -> byFlatIdeals(r, saturate, things#(a#0), things#(a#1)))
operation("intersect", (r, a, fs) -> idealsAnswer {intersect apply(a, i -> things#i)})

operation("radical", (r, a, fs) -> idealsAnswer {fromFlat(r, radical flatIdeal(r, things#(a#0)))})

primesOf = (r, I) -> apply(minimalPrimes flatIdeal(r, I), P -> fromFlat(r, P))

operation("minimalprimes", (r, a, fs) -> idealsAnswer primesOf(r, things#(a#0)))

operation("primary", (r, a, fs) -> (
        J := flatIdeal(r, things#(a#0));
        idealsAnswer apply(primaryDecomposition J, Q -> fromFlat(r, Q))))

operation("associated", (r, a, fs) -> (
        J := flatIdeal(r, things#(a#0));
        idealsAnswer apply(associatedPrimes J, P -> fromFlat(r, P))))

operation("isprime", (r, a, fs) -> {isPrime flatIdeal(r, things#(a#0)), {}})

-- the codimension c of every component is known
operation("singular", (r, a, fs) -> (
        I := things#(a#0);
        idealsAnswer {trim(I + minors(a#1, jacobian I))}))

-- Components of several dimensions: a point of one component is regular only where the rank of the
-- Jacobian is the codimension of that component.
operation("singularmixed", (r, a, fs) -> (
        I := things#(a#0);
        n := numgens r#"ring";
        J := jacobian I;
        idealsAnswer {trim intersect apply(primesOf(r, I), P -> P + minors(n - dim P, J))}))

operation("codimensions", (r, a, fs) -> (
        {apply(primesOf(r, things#(a#0)), P -> numgens r#"ring" - dim P), {}}))

------------------------------------------------------------------------
-- Maps of rings
------------------------------------------------------------------------

-- With the variables of the source in the degrees of their images, the kernel is homogeneous and
-- M2 may use Hilbert functions. Null when the images allow no such grading.
gradedSource = (S, T, images) -> (
    degreeOf := f -> if f == 0 then 1 else first degree f;
    fitting := all(images, f -> f == 0 or (isHomogeneous f and first degree f > 0));
    if not fitting or #images == 0 then null
    else (coefficientRing S)(monoid[Variables => numgens S, Degrees => apply(images, degreeOf)]))

-- the preimage of an ideal J of the target
operation("preimage", (r, a, fs) -> (
        s := things#(a#0);
        J := things#(a#1);
        (S, T) := (s#"ring", r#"ring");
        H := if isHomogeneous J then gradedSource(S, T, fs) else null;
        source := if H === null then S else H;
        target := if J == 0 then T else T / J;
        k := kernel map(target, source, apply(fs, f -> promote(f, target)));
        k = trim if H === null then k else (map(S, H, gens S)) k;
        append(idealsAnswer {k}, s)))

operation("applymap", (r, a, fs) -> {null, apply(fs, f -> things#(a#0) f), things#(a#1)})

------------------------------------------------------------------------
-- Matrices
------------------------------------------------------------------------

operation("minors", (r, a, fs) -> idealsAnswer {minors(a#1, things#(a#0))})
operation("determinant", (r, a, fs) -> {null, {det things#(a#0)}})
-- M2 knows ranks over fields
operation("rank", (r, a, fs) -> (
        (R, M) := (r#"ring", things#(a#0));
        S := if coefficientRing R === ZZ then QQ(monoid[Variables => numgens R]) else R;
        {rank if S === R then M else (map(S, R, gens S)) M, {}}))
operation("syzygies", (r, a, fs) -> matricesAnswer {
        syz(if instance(things#(a#0), Ideal) then gens things#(a#0) else things#(a#0))})
operation("image", (r, a, fs) -> matricesAnswer {mingens image things#(a#0)})

-- Matrices of integers, or of numbers: out of the ring without variables, and back.
overCoefficients = (r, f, M) -> (
    R := r#"ring";
    if numgens R > 0 then f M
    else apply(f lift(M, coefficientRing R), N -> promote(N, R)))

operation("smith", (r, a, fs) -> matricesAnswer toList overCoefficients(r, smithNormalForm, things#(a#0)))

operation("lll", (r, a, fs) -> matricesAnswer toList overCoefficients(
        r, M -> LLL(M, ChangeMatrix => true), things#(a#0)))

------------------------------------------------------------------------
-- Polynomials
------------------------------------------------------------------------

multiplicity = (f, g) -> (
    e := 0;
    while f % ideal g == 0 do (f = f // g; e = e + 1);
    e)

-- over an extended field, through the primes over the minimal polynomial
factorsOverExtension = (r, f) -> (
    gs := apply(primesOf(r, ideal f), P -> first flatten entries gens gb P);
    apply(gs, g -> (g, multiplicity(f, g))))

operation("factor", (r, a, fs) -> (
        f := fs#0;
        factors := if r#"flat" === r#"ring" then apply(toList factor f, p -> (p#0, p#1))
            else factorsOverExtension(r, f);
        {apply(factors, last), apply(factors, first)}))

-- intervals {lower, upper}, or null where the package is missing
operation("realroots", (r, a, fs) -> (
        found := try needsPackage "RealRoots" else null;
        if found === null or not found.Dictionary#?"realRootIsolation" then return {null, {}};
        isolate := value found.Dictionary#"realRootIsolation";
        {isolate(fs#0, (a#0) / (a#1)), {}}))

-- what tests of the exchange ask: the generators as they are, and the first minus all others
operation("generators", (r, a, fs) -> {null, (things#(a#0))_*})
operation("sumcheck", (r, a, fs) -> (
        gs := (things#(a#0))_*;
        {null, {gs#0 - sum(drop(gs, 1))}}))
operation("held", (r, a, fs) -> {#keys things, {}})

beginDocumentation()

doc ///
Key
  M2Algebra
Headline
  commutative algebra for another process
Description
  Text
    Defines the operation "algebra" of @TO "M2Bridge::M2Bridge"@: another process names an operation,
    numbers of rings, ideals and matrices that live here, and polynomials as flat segments.
///

TEST ///
debug needsPackage "M2Algebra"
debug needsPackage "M2Bridge"
ask = operations#"algebra"
ring' = first ask {"ring", "{0,{},{1,0,{},2,{{1,2}}}}"}
-- x^2 - y and x*y - 1
segments = {"2,2", ascii {1, 1, 2, 0}, "1,-1,1,-1", ascii {0, 1, 0, 1}, ascii {2, 1, 1, 1}, "bytes"}
ideal' = first ask join({"ideal", "{" | ring' | ",{},{}}"}, segments)
question' = "{" | ring' | ",{},{" | ideal' | "}}"
assert(ask {"invariants", question'} === {"[0,3]", "", "", ""})
assert((ask {"generators", question'})#2 === "1,-1,1,-1")
-- a number that is given back is forgotten
held = value first ask {"held", "{" | ring' | ",{},{}}"}
assert(value first ask {"held", "{" | ring' | ",{" | ideal' | "},{}}"} === held - 1)
///

TEST ///
-- over QQ with a root of 2, u^2 - 2*v^2 has two factors
debug needsPackage "M2Algebra"
debug needsPackage "M2Bridge"
ask = operations#"algebra"
ring' = first ask {"ring", "{0,{},{3,0,{-2,0,1},2,{{1,2}}}}"}
segments = {"2", ascii {1, 1}, "1,-2", ascii {0, 1}, ascii {2, 2}, "bytes"}
assert(first ask join({"factor", "{" | ring' | ",{},{}}"}, segments) === "[1,1]")
///
